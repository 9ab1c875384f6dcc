/*-------------------------------------------------------------------------
 *
 * batch.h
 *	  The rows that one statement stores in one parent.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_BATCH_H
#define ZBXHIST_BATCH_H

#include "access/htup.h"
#include "commands/trigger.h"
#include "executor/execdesc.h"

#include "ingest/counters.h"

typedef struct InsertBatch InsertBatch;

/* a row on its way in */
typedef struct NewRow
{
	HeapTuple	tuple;
	bool		is_owned;		/* in the batch's memory; the batch takes it
								 * over */
	bool		has_clock;
	int32		clock;			/* 0 if it has none */
	int32		ns;				/* 0 if it has none */
	int64		itemid;			/* 0 if it has none */
} NewRow;

/* batch_open.c: from the first row to the end of the statement */
extern void ZbxhistBatchInit(void);
extern InsertBatch *ZbxhistGetBatch(const TriggerData *trigdata);
extern InsertBatch *ZbxhistOpenBatch(Relation parent, const void *owner,
									 CommandId cid);
extern MemoryContext ZbxhistBatchMemory(const InsertBatch *batch);
extern InsertStats ZbxhistCloseBatch(InsertBatch *batch);
extern void ZbxhistCloseRelation(Oid parent);
extern void ZbxhistCloseQuery(const QueryDesc *query);
extern void ZbxhistFlushForNestedQuery(void);

/* batch_route.c: the way in */
extern Oid	ZbxhistRouteRow(InsertBatch *batch, Relation parent,
							const NewRow *row);
extern Oid	ZbxhistRouteTuple(InsertBatch *batch, Relation parent,
							  HeapTuple tuple);

#endif							/* ZBXHIST_BATCH_H */
