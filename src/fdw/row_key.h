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
extern void ZbxhistRaiseNewKey(Relation table, AttrNumber attnum);
extern RowKey *ZbxhistBeginRowKey(Relation table, List *targets);
extern bool ZbxhistGetItemid(RowKey *key, EState *estate,
							 TupleTableSlot *plan_slot, int64 *itemid);

#endif							/* ZBXHIST_ROW_KEY_H */
