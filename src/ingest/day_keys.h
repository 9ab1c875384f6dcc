/*-------------------------------------------------------------------------
 *
 * day_keys.h
 *	  Looks for keys in a packed day.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_KEYS_H
#define ZBXHIST_DAY_KEYS_H

#include "ingest/key_look.h"

extern KeyHolder *ZbxhistOpenDayKeys(Relation day, Relation parent,
									 const KeyRows *rows);

#endif							/* ZBXHIST_DAY_KEYS_H */
