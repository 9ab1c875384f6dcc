/*-------------------------------------------------------------------------
 *
 * day_keys.h
 *	  A packed day as a place that may have keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_KEYS_H
#define ZBXHIST_DAY_KEYS_H

#include "nodes/pg_list.h"

#include "ingest/key_look.h"

extern Oid	ZbxhistFindKeyIndex(Relation parent, List **others);
extern KeyHolder *ZbxhistOpenDayKeys(Relation day, Relation parent,
									 const KeyRows *rows);

#endif							/* ZBXHIST_DAY_KEYS_H */
