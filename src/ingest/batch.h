/*-------------------------------------------------------------------------
 *
 * batch.h
 *	  The rows of one statement on one parent, on their way to partitions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_BATCH_H
#define ZBXHIST_BATCH_H

#include "commands/trigger.h"
#include "executor/execdesc.h"
#include "utils/resowner.h"

#include "catalog/partition_set.h"
#include "ingest/frame.h"
#include "ingest/path.h"

/* rows are written when so many, or so many bytes, are buffered */
#define ZBXHIST_BATCH_MAX_ROWS 1024
#define ZBXHIST_BATCH_MAX_BYTES (2 * 1024 * 1024)

struct InsertTarget;

/* what the statement allows to be done with its rows */
typedef enum RowAction
{
	ROW_BUFFER,					/* buffer, then insert many at once */
	ROW_INSERT,					/* insert each by itself, at once */
	ROW_KEEP,					/* leave in the parent */
	ROW_SKIP_EXISTING,			/* ON CONFLICT DO NOTHING */
	ROW_REFUSE_EXISTING			/* ON CONFLICT DO UPDATE */
} RowAction;

/* what became of a statement's rows */
typedef struct InsertStats
{
	InsertPath	path;			/* how they came here */
	uint64		routed;			/* stored in partitions */
	uint64		kept;			/* stored in the parent */
	uint64		flushes;		/* times the buffer was written */
} InsertStats;

/* a row that waits; the slot owns its tuple, in the parent's row type */
typedef struct BufferedRow
{
	Oid			partition;		/* or the parent, for a row without one */
	int32		clock;
	int64		itemid;
	int			arrival;		/* keeps equal keys in the statement's order */
	TupleTableSlot *slot;
} BufferedRow;

typedef struct InsertBatch
{
	/* identity: one result relation of one statement */
	const void *owner;			/* its trigger, or plan node; NULL: in the pool */
	const QueryDesc *query;		/* NULL: COPY, or began before the library */
	Oid			parent;
	SubTransactionId subid;		/* rows belong to this subtransaction */
	CommandId	cid;			/* ... and command */

	/* how rows are treated */
	RowAction	action;
	bool		sets_tag;		/* rows count in the statement's command tag */
	PartitionSet *set;			/* of parent; lives as long as the session */
	uint32		generation;		/* of set, when the rows were routed */
	PartitionBounds hit;		/* the last row's partition; relid 0: none */

	/* buffered rows */
	TupleDesc	desc;			/* own copy of the parent's row type */
	int			nrows;
	int			nslots;			/* slots made so far */
	Size		nbytes;
	bool		is_sorted;
	bool		is_flushing;
	BufferedRow rows[ZBXHIST_BATCH_MAX_ROWS];
	TupleTableSlot *run[ZBXHIST_BATCH_MAX_ROWS];

	/* rows that stay in the parent and are to be checked once they are there */
	bool		has_strays;		/* some of the rows belong to a partition */
	int			nkept;
	HeapTuple	kept[ZBXHIST_BATCH_MAX_ROWS];

	/* last table inserted into, still open; kept between rows of ROW_INSERT */
	struct InsertTarget *target;
	ResourceOwner target_owner;

	/* since opened, for zbxhist_internal.counters() and EXPLAIN */
	InsertStats stats;

	MemoryContext context;		/* owns all; child of TopMemoryContext */
	MemoryContext rows_context; /* owns desc, slots and buffered tuples */
	MemoryContext kept_context; /* owns kept tuples */
} InsertBatch;

extern void ZbxhistBatchInit(void);
extern InsertBatch *ZbxhistGetBatch(const TriggerData *trigdata);
extern InsertBatch *ZbxhistOpenBatch(Relation parent, const void *owner,
									 const QueryDesc *query, CommandId cid,
									 RowAction action, InsertPath path);
extern void ZbxhistCloseBatch(InsertBatch *batch);
extern const PartitionBounds *ZbxhistFindRowPartition(InsertBatch *batch,
													  Relation parent,
													  int32 clock);
extern void ZbxhistBufferRow(InsertBatch *batch, HeapTuple tuple,
							 const PartitionBounds *partition);
extern void ZbxhistBufferTuple(InsertBatch *batch, HeapTuple tuple,
							   Oid partition, int64 itemid, int32 clock);
extern void ZbxhistNoteStrays(InsertBatch *batch, Relation parent);
extern void ZbxhistKeepRow(InsertBatch *batch, Relation parent,
						   HeapTuple tuple, bool is_stray);
extern void ZbxhistFlushBatch(InsertBatch *batch);
extern bool ZbxhistKeyIsElsewhere(InsertBatch *batch, Relation parent,
								  HeapTuple tuple,
								  const PartitionBounds *partition,
								  const PackedDay *day);
extern void ZbxhistFlushRelation(Oid parent);
extern void ZbxhistFlushQuery(const QueryDesc *query);
extern void ZbxhistCloseQuery(const QueryDesc *query);
extern void ZbxhistFlushForNestedQuery(void);

#endif							/* ZBXHIST_BATCH_H */
