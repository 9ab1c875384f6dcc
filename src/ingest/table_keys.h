/*-------------------------------------------------------------------------
 *
 * table_keys.h
 *	  Looks for keys in a table, by its indexes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_TABLE_KEYS_H
#define ZBXHIST_TABLE_KEYS_H

#include "ingest/key_look.h"

extern KeyHolder *ZbxhistOpenTableKeys(Relation rel, Relation parent,
									   const KeyRows *rows);

#endif							/* ZBXHIST_TABLE_KEYS_H */
