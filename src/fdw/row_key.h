/*-------------------------------------------------------------------------
 *
 * row_key.h
 *	  The key of a packed row, read from columns of the foreign table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROW_KEY_H
#define ZBXHIST_ROW_KEY_H

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "utils/relcache.h"

typedef struct RowKey RowKey;

extern void ZbxhistAddKeyJunk(PlannerInfo *root, Index rtindex,
							  Relation table);
extern Bitmapset *ZbxhistKeyAttributes(Relation table);
extern RowKey *ZbxhistBeginRowKey(Relation table, List *targets);
extern bool ZbxhistGetItemid(RowKey *key, EState *estate,
							 TupleTableSlot *plan_slot, int64 *itemid);
extern bool ZbxhistKeepsKey(RowKey *key, TupleTableSlot *slot,
							TupleTableSlot *plan_slot);

#endif							/* ZBXHIST_ROW_KEY_H */
