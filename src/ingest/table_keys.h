/*-------------------------------------------------------------------------
 *
 * table_keys.h
 *	  A table with indexes as a place that may have keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_TABLE_KEYS_H
#define ZBXHIST_TABLE_KEYS_H

#include "ingest/key_look.h"

extern KeyHolder *ZbxhistOpenTableKeys(Relation rel, Relation parent,
									   const KeyRows *rows);

#endif							/* ZBXHIST_TABLE_KEYS_H */
