/*-------------------------------------------------------------------------
 *
 * target.h
 *	  A table opened for the insertion of rows in the parent's row type.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_TARGET_H
#define ZBXHIST_TARGET_H

#include "access/tupconvert.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"

typedef struct InsertTarget
{
	Relation	rel;			/* opened, locked by the caller */
	EState	   *estate;
	ResultRelInfo *rri;			/* with its indexes opened */
	TupleConversionMap *map;	/* from the source's row type, or NULL */
	bool		fires_before;	/* fires BEFORE ROW triggers */
	bool		fires_after;	/* fires AFTER ROW triggers */
	bool		needs_constraints;	/* has constraints other than NOT NULL */
	bool		needs_generated;	/* has stored generated columns */
	bool		has_plain_indexes;	/* immediate, on plain columns */
	MemoryContext context;		/* owns all this */
	MemoryContext scratch;		/* reset after each call */
} InsertTarget;

/* what the target is in this insertion */
typedef enum TargetKind
{
	TARGET_PARTITION,
	TARGET_PARENT,				/* its BEFORE ROW triggers fired already */
	TARGET_MOVE					/* the rows come from the same parent */
} TargetKind;

extern InsertTarget *ZbxhistOpenTarget(Relation rel, TupleDesc source,
									   TargetKind kind, Relation root,
									   MemoryContext outer);
extern void ZbxhistInsertRows(InsertTarget *target, TupleTableSlot **slots,
							  int nslots, CommandId cid);
extern void ZbxhistCloseTarget(InsertTarget *target);

#endif							/* ZBXHIST_TARGET_H */
