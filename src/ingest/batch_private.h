/*-------------------------------------------------------------------------
 *
 * batch_private.h
 *	  What is in a batch; for batch*.c only.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_BATCH_PRIVATE_H
#define ZBXHIST_BATCH_PRIVATE_H

#include "utils/resowner.h"

#include "ingest/batch.h"
#include "ingest/left_out.h"
#include "ingest/lookup.h"
#include "tables/partition_set.h"
#include "tables/target.h"

/* rows are written when so many, or so many bytes, are buffered */
#define ZBXHIST_BATCH_MAX_ROWS 1024
#define ZBXHIST_BATCH_MAX_BYTES (2 * 1024 * 1024)

/* what the statement allows to be done with its rows */
typedef enum RowAction
{
	ROW_BUFFER,					/* buffer, then insert many at once */
	ROW_INSERT,					/* insert each row at once */
	ROW_KEEP,					/* leave in the parent */
	/* ON CONFLICT: look up the key first */
	ROW_SKIP_EXISTING,			/* ... DO NOTHING */
	ROW_REFUSE_UPDATE,			/* ... DO UPDATE */
	ROW_REFUSE_SELECT			/* ... DO SELECT */
} RowAction;

/* a row that waits; the slot owns its tuple, in the parent's row type */
typedef struct BufferedRow
{
	Oid			partition;		/* or the parent, for a row without a
								 * partition */
	int64		itemid;
	int64		position;
	int			arrival;		/* keeps equal keys in the statement's order */
	TupleTableSlot *slot;
} BufferedRow;

struct InsertBatch
{
	/* identity: one result relation of one statement */
	const void *owner;			/* its trigger, or what opened it */
	const QueryDesc *query;		/* NULL: COPY, or began before the library */
	Oid			parent;
	SubTransactionId subid;		/* rows belong to this subtransaction */
	CommandId	cid;			/* ... and command */

	/* how rows are treated */
	RowAction	action;
	bool		has_executor;	/* which stores the rows for the parent */
	bool		sets_tag;		/* rows count in the statement's command tag */
	PartitionSet *set;			/* of parent; lives as long as the session */
	uint32		generation;		/* of set, when the rows were routed */
	ClockPlace	place;			/* the last row's, by that set */

	LeftOut		left_out;		/* rows with clocks that are not stored */

	/* buffered rows */
	TupleDesc	desc;			/* own copy of the parent's row type */
	int			nrows;
	int			nslots;			/* slots made so far */
	Size		nbytes;
	bool		is_sorted;
	bool		is_flushing;
	BufferedRow rows[ZBXHIST_BATCH_MAX_ROWS];
	TupleTableSlot *slice[ZBXHIST_BATCH_MAX_ROWS];	/* rows of one table */

	/*
	 * rows that the executor stores in the parent; their keys are checked
	 * afterwards
	 */
	bool		has_strays;		/* some rows belong to a partition */
	int			nkept;
	HeapTuple	kept[ZBXHIST_BATCH_MAX_ROWS];

	/* last table inserted into, still open; kept between rows of ROW_INSERT */
	InsertTarget *target;
	ResourceOwner target_owner;

	/* since opened, for zbxhist_internal.counters() and EXPLAIN */
	InsertStats stats;

	MemoryContext context;		/* owns all; child of TopMemoryContext */
	MemoryContext rows_context; /* owns desc, slots and buffered tuples */
	MemoryContext kept_context; /* owns kept tuples */
};

/* batch_rows.c: the rows that wait */
extern void ZbxhistSetBatchRowType(InsertBatch *batch, TupleDesc desc);
extern bool ZbxhistBufferRow(InsertBatch *batch, const NewRow *new,
							 Oid partition);
extern void ZbxhistSortRows(InsertBatch *batch);
extern void ZbxhistClearRows(InsertBatch *batch);
extern void ZbxhistKeepRow(InsertBatch *batch, HeapTuple tuple);
extern void ZbxhistClearKeptRows(InsertBatch *batch);

/* batch_flush.c: writing them */
extern void ZbxhistFlushBatch(InsertBatch *batch);
extern void ZbxhistCheckBatchKeptRows(InsertBatch *batch);
extern void ZbxhistCloseBatchTarget(InsertBatch *batch);

#endif							/* ZBXHIST_BATCH_PRIVATE_H */
