/*-------------------------------------------------------------------------
 *
 * key_search.h
 *	  Looks for keys of a parent in a table that has no such index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_KEY_SEARCH_H
#define ZBXHIST_KEY_SEARCH_H

#include "executor/tuptable.h"
#include "utils/snapshot.h"

#include "ingest/key_match.h"

typedef struct KeySearch KeySearch;

extern KeySearch *ZbxhistBeginKeySearch(Relation child, Relation parent,
										const TableKey *key,
										const AttrMap *map);
extern bool ZbxhistSearchKey(KeySearch *search, TupleTableSlot *slot);
extern bool ZbxhistSeesKey(KeySearch *search, TupleTableSlot *slot,
						   Snapshot snapshot);
extern void ZbxhistEndKeySearch(KeySearch *search);

#endif							/* ZBXHIST_KEY_SEARCH_H */
