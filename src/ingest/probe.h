/*-------------------------------------------------------------------------
 *
 * probe.h
 *	  Uniqueness across a parent and its partition.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_PROBE_H
#define ZBXHIST_PROBE_H

#include "access/attmap.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"

#include "compat.h"

/* the unique indexes of a table, opened to look keys up */
typedef struct KeyProbe
{
	Relation	rel;			/* borrowed, locked by the caller */
	EState	   *estate;
	ResultRelInfo *rri;
	AttrMap    *map;			/* from the source's row type, or NULL */
	TupleTableSlot *converted;	/* for map */
	bool	   *is_asked;		/* which indexes are asked; NULL: all */
	List	   *searches;		/* of KeySearch: for keys without an index */
	MemoryContext context;		/* owns all this */
} KeyProbe;

extern KeyProbe *ZbxhistOpenProbe(Relation rel, TupleDesc source);
extern KeyProbe *ZbxhistOpenChildProbe(Relation child, Relation parent);
extern bool ZbxhistProbeKey(KeyProbe *probe, TupleTableSlot *slot,
							bool raise, ItemPointer found);
extern void ZbxhistCloseProbe(KeyProbe *probe);
pg_noreturn extern void ZbxhistRaiseKeyTaken(Relation rel, Oid relid,
											 TupleTableSlot *slot);
extern void ZbxhistRaiseDuplicates(Relation rel, TupleDesc source,
								   TupleTableSlot **slots, int nslots);
extern void ZbxhistRaiseChildDuplicates(Relation child, Relation parent,
										TupleTableSlot **slots, int nslots);

#endif							/* ZBXHIST_PROBE_H */
