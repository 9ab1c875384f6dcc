/*-------------------------------------------------------------------------
 *
 * day_keys.h
 *	  A packed day as a place that may have keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_KEYS_H
#define ZBXHIST_DAY_KEYS_H

#include "ingest/key_look.h"

extern KeyHolder *ZbxhistOpenDayKeys(Relation day, Relation parent,
									 const KeyRows *rows);

#endif							/* ZBXHIST_DAY_KEYS_H */
