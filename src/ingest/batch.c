/*-------------------------------------------------------------------------
 *
 * batch.c
 *	  Buffers the rows that a statement routes and writes them in key order.
 *
 * A batch belongs to one result relation of one statement, known by its copy
 * of the row trigger.  It opens with the first row
 * and closes when the statement ends: in ExecutorFinish before any AFTER
 * trigger, or, for COPY and for a statement that began before the library was
 * loaded, in the AFTER STATEMENT trigger.  The transaction's end closes what
 * neither did.  So when a statement reports success, its rows are stored, and
 * what they violate is the statement's own error.
 *
 * A batch belongs to the subtransaction it was opened in and is written only
 * in that one: written in an inner one, its rows could be rolled back alone.
 *
 * Closed batches go to a pool and keep their slots: making 1000 slots costs
 * more than a statement gains from them.  On abort nothing is written; the
 * resource owner has closed the relations.
 *
 * Locks: a partition is locked conditionally.  If maintenance or anybody else
 * holds a lock that conflicts with inserting, or has dropped it, or has given
 * it a column of its own, its rows go to the parent: an insert never waits for
 * that and never fails by it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_trigger.h"
#include "executor/executor.h"
#include "lib/ilist.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "guc.h"
#include "ingest/batch.h"
#include "ingest/counters.h"
#include "ingest/kept_rows.h"
#include "ingest/key_match.h"
#include "ingest/lookup.h"
#include "ingest/lookup_day.h"
#include "ingest/other_keys.h"
#include "ingest/probe.h"
#include "rows/row_type.h"
#include "rows/stray.h"
#include "rows/target.h"

/* more batches than anyone keeps open at once are given back to malloc */
#define MAX_POOLED_BATCHES 16

static List *open_batches = NIL;	/* of InsertBatch, newest first */
static List *pooled_batches = NIL;

/* ---- opening and closing ---- */

/*
 * same_row_type says whether tuples of one row type can be taken for those of
 * the other: they are laid out alike and named alike, for triggers look the
 * name up.
 */
static bool
same_row_type(TupleDesc a, TupleDesc b)
{
	if (a->natts != b->natts || a->tdtypeid != b->tdtypeid)
		return false;
	for (int i = 0; i < a->natts; i++)
	{
		Form_pg_attribute left = TupleDescAttr(a, i);
		Form_pg_attribute right = TupleDescAttr(b, i);

		if (left->atttypid != right->atttypid ||
			left->attlen != right->attlen ||
			left->attalign != right->attalign ||
			left->attisdropped != right->attisdropped)
			return false;
	}
	return true;
}

/*
 * CreateBatch makes an empty batch below TopMemoryContext.
 */
static InsertBatch *
CreateBatch(void)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext,
												  "zbxhist batch",
												  ALLOCSET_DEFAULT_SIZES);
	InsertBatch *batch = MemoryContextAllocZero(context, sizeof(InsertBatch));

	batch->context = context;
	batch->rows_context = AllocSetContextCreate(context, "zbxhist batch rows",
												ALLOCSET_DEFAULT_SIZES);
	batch->kept_context = AllocSetContextCreate(context, "zbxhist kept rows",
												ALLOCSET_DEFAULT_SIZES);
	return batch;
}

/*
 * TakeFromPool returns an idle batch: the one last used for parent, whose
 * slots fit, or else a new one, or if there are many, the one idle longest.
 */
static InsertBatch *
TakeFromPool(Oid parent)
{
	InsertBatch *batch;
	ListCell   *lc;

	foreach(lc, pooled_batches)
	{
		batch = lfirst(lc);
		if (batch->parent == parent)
		{
			pooled_batches = foreach_delete_current(pooled_batches, lc);
			return batch;
		}
	}
	if (list_length(pooled_batches) < MAX_POOLED_BATCHES)
		return CreateBatch();
	batch = llast(pooled_batches);
	pooled_batches = list_delete_last(pooled_batches);
	return batch;
}

/*
 * IsClosed says whether somebody closes the statement's batch when it ends: a
 * hook, or else our statement trigger, which may have been disabled.
 */
static bool
IsClosed(const TriggerData *trigdata, const StatementInfo *info)
{
	const TriggerDesc *triggers = trigdata->tg_relation->trigdesc;

	if (info->frame != NULL && info->frame->query != NULL)
		return true;
	for (int i = 0; i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (TRIGGER_TYPE_MATCHES(trigger->tgtype, TRIGGER_TYPE_STATEMENT,
								 TRIGGER_TYPE_AFTER, TRIGGER_TYPE_INSERT) &&
			trigger->tgfoid == trigdata->tg_trigger->tgfoid &&
			(trigger->tgenabled == TRIGGER_FIRES_ON_ORIGIN ||
			 trigger->tgenabled == TRIGGER_FIRES_ALWAYS))
			return true;
	}
	return false;
}

/*
 * ChooseAction decides what the statement allows to be done with its rows.
 */
static RowAction
ChooseAction(const TriggerData *trigdata, const StatementInfo *info)
{
	TriggerDesc *triggers = trigdata->tg_relation->trigdesc;

	if (info->on_conflict == ONCONFLICT_NOTHING)
		return ROW_SKIP_EXISTING;
	if (info->on_conflict == ONCONFLICT_UPDATE)
		return ROW_REFUSE_EXISTING;
	/* transition tables show what is stored in the parent */
	if (!zbxhist_enable_routing || !info->is_known || info->needs_row ||
		triggers->trig_insert_new_table || !IsClosed(trigdata, info) ||
		SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA)
		return ROW_KEEP;
	if (!zbxhist_enable_batching || info->runs_functions)
		return ROW_INSERT;

	/* a user's row trigger may look at the rows that came before */
	for (int i = 0; i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (TRIGGER_TYPE_MATCHES(trigger->tgtype, TRIGGER_TYPE_ROW,
								 TRIGGER_TYPE_BEFORE, TRIGGER_TYPE_INSERT) &&
			trigger->tgfoid != trigdata->tg_trigger->tgfoid)
			return ROW_INSERT;
	}
	return ROW_BUFFER;
}

/*
 * SetRowType makes the batch's slots fit the parent's row type.
 */
static void
SetRowType(InsertBatch *batch, Relation parent)
{
	MemoryContext old;

	if (batch->desc != NULL &&
		same_row_type(batch->desc, RelationGetDescr(parent)))
		return;
	MemoryContextReset(batch->rows_context);
	batch->nslots = 0;
	batch->desc = NULL;
	old = MemoryContextSwitchTo(batch->rows_context);
	batch->desc = CreateTupleDescCopy(RelationGetDescr(parent));
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistOpenBatch opens a batch for rows of parent, which the statement has
 * locked.  owner tells the statement's batches apart; rows are inserted as by
 * command cid, and counted for path.  It is closed by ZbxhistCloseBatch, or
 * with query, or at the end of the transaction.
 */
InsertBatch *
ZbxhistOpenBatch(Relation parent, const void *owner, const QueryDesc *query,
				 CommandId cid, RowAction action, InsertPath path)
{
	PartitionSet *set = ZbxhistGetPartitionSet(parent);
	InsertBatch *batch = TakeFromPool(RelationGetRelid(parent));
	MemoryContext old;

	SetRowType(batch, parent);
	batch->owner = owner;
	batch->query = query;
	batch->parent = RelationGetRelid(parent);
	batch->subid = GetCurrentSubTransactionId();
	batch->cid = cid;
	batch->action = action;
	batch->sets_tag = false;
	batch->set = set;
	batch->hit.relid = InvalidOid;
	batch->is_sorted = true;
	batch->has_strays = false;
	memset(&batch->stats, 0, sizeof(batch->stats));
	batch->stats.path = path;

	old = MemoryContextSwitchTo(TopMemoryContext);
	open_batches = lcons(batch, open_batches);
	MemoryContextSwitchTo(old);
	return batch;
}

/*
 * OpenTriggerBatch opens a batch for the statement that fires trigdata's
 * trigger.
 */
static InsertBatch *
OpenTriggerBatch(const TriggerData *trigdata)
{
	StatementInfo info;
	const QueryDesc *query;
	InsertBatch *batch;

	ZbxhistDescribeStatement(trigdata, &info);
	query = info.frame ? info.frame->query : NULL;
	batch = ZbxhistOpenBatch(trigdata->tg_relation, trigdata->tg_trigger, query,
							 query ? query->estate->es_output_cid :
							 GetCurrentCommandId(true),
							 ChooseAction(trigdata, &info),
							 ZbxhistFindInsertPath(trigdata, &info));
	batch->sets_tag = info.sets_tag;
	return batch;
}

/*
 * IsShared says whether a batch serves many statements: logical replication
 * applies each row by itself, and what it opens is closed by the commit.
 */
static bool
IsShared(const InsertBatch *batch)
{
	return batch->query == NULL && batch->action == ROW_KEEP &&
		batch->subid == GetCurrentSubTransactionId();
}

/*
 * ZbxhistGetBatch returns the batch of the statement that fires the row
 * trigger, opening one with the statement's first row.
 */
InsertBatch *
ZbxhistGetBatch(const TriggerData *trigdata)
{
	ExecFrame  *frame = ZbxhistCurrentFrame();
	const QueryDesc *query = frame ? frame->query : NULL;
	ListCell   *lc;

	foreach(lc, open_batches)
	{
		InsertBatch *batch = lfirst(lc);

		if (batch->parent == RelationGetRelid(trigdata->tg_relation) &&
			(batch->query == query || batch->query == NULL) &&
			(batch->owner == trigdata->tg_trigger || IsShared(batch)))
			return batch;
	}
	return OpenTriggerBatch(trigdata);
}

/*
 * ReleaseBatch gives an empty batch back to the pool.
 */
static void
ReleaseBatch(InsertBatch *batch)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	batch->owner = NULL;
	batch->query = NULL;
	open_batches = list_delete_ptr(open_batches, batch);
	if (list_length(pooled_batches) < MAX_POOLED_BATCHES)
		pooled_batches = lcons(batch, pooled_batches);
	else
		MemoryContextDelete(batch->context);
	MemoryContextSwitchTo(old);
}

/*
 * CloseTarget closes the table that is still open, under the resource owner
 * that it was opened under.
 */
static void
CloseTarget(InsertBatch *batch)
{
	ResourceOwner old = CurrentResourceOwner;

	if (batch->target == NULL)
		return;
	CurrentResourceOwner = batch->target_owner;
	ZbxhistCloseTarget(batch->target);
	CurrentResourceOwner = old;
	batch->target = NULL;
}

/*
 * ClearRows empties the buffer; the slots stay.
 */
static void
ClearRows(InsertBatch *batch)
{
	for (int i = 0; i < batch->nrows; i++)
		ExecClearTuple(batch->rows[i].slot);
	batch->nrows = 0;
	batch->nbytes = 0;
	batch->is_sorted = true;
}

/*
 * DiscardBatch forgets a batch whose (sub)transaction is aborted.
 */
static void
DiscardBatch(InsertBatch *batch)
{
	ClearRows(batch);
	batch->nkept = 0;
	MemoryContextReset(batch->kept_context);
	if (batch->target != NULL)
		MemoryContextDelete(batch->target->context);
	batch->target = NULL;
	batch->is_flushing = false;
	ReleaseBatch(batch);
}

/* ---- writing ---- */

/*
 * compare_rows orders rows by partition, then by key.
 */
static int
compare_rows(const void *a, const void *b)
{
	const BufferedRow *left = a;
	const BufferedRow *right = b;

	if (left->partition != right->partition)
		return left->partition < right->partition ? -1 : 1;
	if (left->itemid != right->itemid)
		return left->itemid < right->itemid ? -1 : 1;
	if (left->clock != right->clock)
		return left->clock < right->clock ? -1 : 1;
	return left->arrival < right->arrival ? -1 : 1;
}

/*
 * RowsStillBelong says whether all rows still belong to the partition that
 * they were routed to, after something about the parent has changed.
 */
static bool
RowsStillBelong(const PartitionSet *set, const BufferedRow *rows, int nrows)
{
	for (int i = 0; i < nrows; i++)
	{
		const PartitionBounds *partition = ZbxhistFindPartition(set,
																rows[i].clock);

		if (partition == NULL || partition->relid != rows[i].partition)
			return false;
	}
	return true;
}

/*
 * OpenPartition locks and opens the partition of a run of rows; returns NULL
 * if that is not possible at once, it is not the rows' place any more, or they
 * do not fit it.
 */
static Relation
OpenPartition(InsertBatch *batch, Relation parent, const BufferedRow *rows,
			  int nrows)
{
	Oid			relid = rows->partition;
	PartitionSet *set;
	Relation	rel;

	if (!ConditionalLockRelationOid(relid, RowExclusiveLock))
		return NULL;

	/* the lock took in invalidations: is it still a partition? */
	set = ZbxhistGetPartitionSet(parent);
	if (set->generation != batch->generation &&
		!RowsStillBelong(set, rows, nrows))
	{
		UnlockRelationOid(relid, RowExclusiveLock);
		return NULL;
	}
	rel = try_table_open(relid, NoLock);
	if (rel != NULL &&
		(!ZbxhistRowsFit(RelationGetDescr(parent), RelationGetDescr(rel)) ||
		 !ZbxhistTakesKeys(set, parent, rel)))
	{
		table_close(rel, RowExclusiveLock);
		return NULL;
	}
	return rel;
}

/*
 * GetTarget returns the opened table for a run of rows: their partition, or
 * the parent.
 */
static InsertTarget *
GetTarget(InsertBatch *batch, Relation parent, const BufferedRow *rows,
		  int nrows)
{
	Relation	rel;
	TargetKind	kind = TARGET_PARTITION;

	if (batch->target != NULL &&
		RelationGetRelid(batch->target->rel) == rows->partition &&
		batch->target_owner == CurrentResourceOwner)
		return batch->target;

	CloseTarget(batch);
	rel = rows->partition == batch->parent ? NULL :
		OpenPartition(batch, parent, rows, nrows);
	if (rel == NULL)
	{
		rel = table_open(batch->parent, NoLock);
		kind = TARGET_PARENT;
	}
	batch->target_owner = CurrentResourceOwner;
	batch->target = ZbxhistOpenTarget(rel, RelationGetDescr(parent), kind,
									  batch->context);
	if (kind == TARGET_PARTITION)
		ZbxhistReportForParent(batch->target, parent);
	return batch->target;
}

/*
 * ZbxhistNoteStrays tells other sessions that this statement stores rows in
 * the parent that belong to a partition.
 */
void
ZbxhistNoteStrays(InsertBatch *batch, Relation parent)
{
	if (batch->has_strays)
		return;
	ZbxhistNoteStray(parent);
	batch->has_strays = true;
}

/*
 * MayBeInParent says whether keys of the partition have to be looked up in
 * the parent.
 */
static bool
MayBeInParent(InsertBatch *batch, Relation parent, Oid partition)
{
	if (RelationGetNumberOfBlocks(parent) == 0)
		return false;
	return batch->has_strays || !ZbxhistHasNoStrays(parent, partition);
}

/*
 * CheckKeptSlots raises 23505 if keys of rows that were buffered for the parent,
 * and are stored there by now, are elsewhere.
 */
static void
CheckKeptSlots(InsertBatch *batch, Relation parent, TupleTableSlot **slots,
			   int nslots)
{
	HeapTuple  *tuples = palloc(sizeof(HeapTuple) * nslots);

	for (int i = 0; i < nslots; i++)
		tuples[i] = ExecFetchSlotHeapTuple(slots[i], false, NULL);
	ZbxhistCheckKeptRows(batch, parent, tuples, nslots);
	pfree(tuples);
}

/*
 * CheckKeys looks for the keys of rows that have been stored on the other
 * side, see probe.c.
 */
static void
CheckKeys(InsertBatch *batch, Relation parent, const BufferedRow *rows,
		  int nrows)
{
	for (int i = 0; i < nrows; i++)
		batch->run[i] = rows[i].slot;

	if (rows->partition == batch->parent)
		CheckKeptSlots(batch, parent, batch->run, nrows);
	else if (RelationGetRelid(batch->target->rel) == batch->parent)
	{
		if (!ZbxhistCheckPartitionKeys(parent, rows->partition, batch->run,
									   nrows))
			CheckKeptSlots(batch, parent, batch->run, nrows);
	}
	else if (MayBeInParent(batch, parent, rows->partition))
		ZbxhistRaiseDuplicates(parent, RelationGetDescr(parent), batch->run,
							   nrows);
}

/*
 * WriteRun inserts rows that have one partition, or all have none.
 */
static void
WriteRun(InsertBatch *batch, Relation parent, const BufferedRow *rows,
		 int nrows)
{
	InsertTarget *target = GetTarget(batch, parent, rows, nrows);
	bool		is_kept = RelationGetRelid(target->rel) == batch->parent;

	if (is_kept && rows->partition != batch->parent)
		ZbxhistNoteStrays(batch, parent);
	for (int i = 0; i < nrows; i++)
		batch->run[i] = rows[i].slot;
	ZbxhistInsertRows(target, batch->run, nrows, batch->cid);
	CheckKeys(batch, parent, rows, nrows);
	if (batch->set->nothers > 0)
		ZbxhistCheckOtherSlots(parent, batch->set, batch->run, nrows);

	if (is_kept)
		batch->stats.kept += nrows;
	else
		batch->stats.routed += nrows;
}

/*
 * WriteRows writes the whole buffer, partition by partition.
 */
static void
WriteRows(InsertBatch *batch, Relation parent)
{
	int			first = 0;

	if (!batch->is_sorted)
		qsort(batch->rows, batch->nrows, sizeof(BufferedRow), compare_rows);

	while (first < batch->nrows)
	{
		int			next = first + 1;

		while (next < batch->nrows &&
			   batch->rows[next].partition == batch->rows[first].partition)
			next++;
		WriteRun(batch, parent, &batch->rows[first], next - first);
		first = next;
	}
}

/*
 * ZbxhistFlushBatch writes what is buffered.  The statement holds a lock on
 * the parent.
 */
void
ZbxhistFlushBatch(InsertBatch *batch)
{
	Relation	parent;

	if (batch->nrows == 0 || batch->is_flushing)
		return;

	batch->is_flushing = true;
	batch->stats.flushes++;
	parent = table_open(batch->parent, NoLock);
	WriteRows(batch, parent);
	table_close(parent, NoLock);
	ClearRows(batch);
	if (batch->action == ROW_BUFFER)
		CloseTarget(batch);
	batch->is_flushing = false;
}

/*
 * ZbxhistFindRowPartition returns the partition of a row of parent, or NULL
 * if it has none.  The result is valid until the next row.  May write.
 */
const PartitionBounds *
ZbxhistFindRowPartition(InsertBatch *batch, Relation parent, int32 clock)
{
	PartitionSet *set = batch->set;
	const PartitionBounds *partition;

	if (!ZbxhistPartitionSetIsValid(set))
		set = ZbxhistGetPartitionSet(parent);

	/* most rows have the same day as the one before */
	if (batch->hit.relid != InvalidOid && batch->generation == set->generation &&
		clock >= batch->hit.from_clock && clock < batch->hit.to_clock)
		return &batch->hit;

	/* writing the rows that an older set routed may bring in a newer one */
	if (batch->generation != set->generation)
	{
		ZbxhistFlushBatch(batch);
		set = ZbxhistGetPartitionSet(parent);
		batch->generation = set->generation;
		batch->hit.relid = InvalidOid;
	}
	partition = ZbxhistFindPartition(set, clock);
	if (partition == NULL)
		return NULL;
	batch->hit = *partition;
	return &batch->hit;
}

/*
 * GetFreeRow returns the place of the next row.  Slots are made here, not when
 * the batch opens: most statements are small.
 */
static BufferedRow *
GetFreeRow(InsertBatch *batch)
{
	if (batch->nrows == batch->nslots)
	{
		MemoryContext old = MemoryContextSwitchTo(batch->rows_context);

		batch->rows[batch->nslots++].slot =
			MakeSingleTupleTableSlot(batch->desc, &TTSOpsHeapTuple);
		MemoryContextSwitchTo(old);
	}
	return &batch->rows[batch->nrows];
}

/*
 * ZbxhistBufferTuple adds a row to the batch, which may write.  The tuple, in
 * rows_context, becomes the batch's.  partition is the one that was found for
 * its clock, or the parent: then the row is stored there.
 */
void
ZbxhistBufferTuple(InsertBatch *batch, HeapTuple tuple, Oid partition,
				   int64 itemid, int32 clock)
{
	BufferedRow *row = GetFreeRow(batch);

	row->partition = partition;
	row->arrival = batch->nrows;
	row->clock = clock;
	row->itemid = itemid;
	ExecStoreHeapTuple(tuple, row->slot, true);

	if (batch->nrows > 0 && batch->is_sorted &&
		compare_rows(&row[-1], row) > 0)
		batch->is_sorted = false;
	batch->nbytes += tuple->t_len;
	batch->nrows++;

	if (batch->nrows == ZBXHIST_BATCH_MAX_ROWS ||
		batch->nbytes >= ZBXHIST_BATCH_MAX_BYTES ||
		batch->action == ROW_INSERT)
		ZbxhistFlushBatch(batch);
}

/*
 * ZbxhistBufferRow adds a copy of a tuple that is for a partition.
 */
void
ZbxhistBufferRow(InsertBatch *batch, HeapTuple tuple,
				 const PartitionBounds *partition)
{
	PartitionSet *set = batch->set;
	MemoryContext old;
	HeapTuple	copy;
	int32		clock;
	int64		itemid = 0;
	bool		isnull;

	clock = DatumGetInt32(heap_getattr(tuple, set->clock_attnum, batch->desc,
									   &isnull));
	if (set->itemid_attnum != InvalidAttrNumber)
		itemid = DatumGetInt64(heap_getattr(tuple, set->itemid_attnum,
											batch->desc, &isnull));
	old = MemoryContextSwitchTo(batch->rows_context);
	copy = heap_copytuple(tuple);
	MemoryContextSwitchTo(old);
	ZbxhistBufferTuple(batch, copy, partition->relid, itemid, clock);
}

/* ---- rows that stay in the parent ---- */

/*
 * CheckKeptRows looks for the keys of kept rows, which are in the parent by
 * now, in the partitions: those there were and those made meanwhile, which a
 * session that inserts the same key may already use.
 */
static void
CheckKeptRows(InsertBatch *batch)
{
	Relation	parent;

	if (batch->nkept == 0)
		return;
	parent = table_open(batch->parent, NoLock);
	ZbxhistCheckKeptRows(batch, parent, batch->kept, batch->nkept);
	ZbxhistCheckOtherTuples(parent, ZbxhistGetPartitionSet(parent),
							batch->kept, batch->nkept);
	table_close(parent, NoLock);

	batch->nkept = 0;
	MemoryContextReset(batch->kept_context);
}

/*
 * ZbxhistKeepRow notes a row that the statement is about to store in the
 * parent, though it has a partition if is_stray.  The rows noted before it are
 * stored by now.
 */
void
ZbxhistKeepRow(InsertBatch *batch, Relation parent, HeapTuple tuple,
			   bool is_stray)
{
	MemoryContext old;

	if (batch->set->clock_attnum == InvalidAttrNumber &&
		batch->set->nothers == 0 && batch->set->npacked_days == 0)
		return;					/* there is no other place */
	if (is_stray)
		ZbxhistNoteStrays(batch, parent);
	if (batch->nkept == ZBXHIST_BATCH_MAX_ROWS)
		CheckKeptRows(batch);
	old = MemoryContextSwitchTo(batch->kept_context);
	batch->kept[batch->nkept++] = heap_copytuple(tuple);
	MemoryContextSwitchTo(old);
	batch->stats.kept++;
}

/*
 * ZbxhistKeyIsElsewhere says whether the key of a tuple is in its partition,
 * or else in its packed day, whichever is not NULL.  If the partition set is
 * not valid any more, it may be in what has taken the place of that.
 */
bool
ZbxhistKeyIsElsewhere(InsertBatch *batch, Relation parent, HeapTuple tuple,
					  const PartitionBounds *partition,
					  const PackedDay *day)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(batch->desc,
													&TTSOpsHeapTuple);
	bool		result;
	bool		is_gone;

	ExecStoreHeapTuple(tuple, slot, false);
	result = partition != NULL ?
		ZbxhistKeyInPartition(parent, partition->relid, slot) :
		OidIsValid(ZbxhistKeyInDay(parent, day, slot, false, &is_gone));
	ExecDropSingleTupleTableSlot(slot);
	return result;
}

/* ---- ends of statements and transactions ---- */

/*
 * ZbxhistCloseBatch writes and checks all that is left and gives the batch
 * back.
 */
void
ZbxhistCloseBatch(InsertBatch *batch)
{
	ZbxhistFlushBatch(batch);
	CheckKeptRows(batch);
	CloseTarget(batch);
	ZbxhistCountersAdd(batch->parent, &batch->stats);
	ReleaseBatch(batch);
}

/*
 * ZbxhistFlushRelation closes the parent's batches that no executor hook
 * closes: those of COPY and of a statement older than the library.
 */
void
ZbxhistFlushRelation(Oid parent)
{
	ExecFrame  *frame = ZbxhistCurrentFrame();
	List	   *batches = list_copy(open_batches);
	ListCell   *lc;

	foreach(lc, batches)
	{
		InsertBatch *batch = lfirst(lc);

		/* one that is flushing belongs to a statement further out */
		if (batch->parent == parent && !batch->is_flushing &&
			(batch->query == NULL ||
			 (frame != NULL && batch->query == frame->query)) &&
			batch->subid == GetCurrentSubTransactionId())
			ZbxhistCloseBatch(batch);
	}
	list_free(batches);
}

/*
 * ZbxhistFlushQuery writes what a query has buffered.
 */
void
ZbxhistFlushQuery(const QueryDesc *query)
{
	ListCell   *lc;

	foreach(lc, open_batches)
	{
		InsertBatch *batch = lfirst(lc);

		if (batch->query == query)
			ZbxhistFlushBatch(batch);
	}
}

/*
 * ZbxhistCloseQuery closes the batches of a query that has ended.
 */
void
ZbxhistCloseQuery(const QueryDesc *query)
{
	List	   *batches;
	ListCell   *lc;

	if (open_batches == NIL)
		return;
	batches = list_copy(open_batches);
	foreach(lc, batches)
	{
		InsertBatch *batch = lfirst(lc);

		if (batch->query == query)
			ZbxhistCloseBatch(batch);
	}
	list_free(batches);
}

/*
 * ZbxhistFlushForNestedQuery writes the rows of the statements that a new
 * query is nested in, so that it sees them as it would in a plain table.
 */
void
ZbxhistFlushForNestedQuery(void)
{
	ListCell   *lc;

	foreach(lc, open_batches)
	{
		InsertBatch *batch = lfirst(lc);

		if (batch->nrows > 0 &&
			batch->subid == GetCurrentSubTransactionId())
			ZbxhistFlushBatch(batch);
	}
}

/*
 * XactCallbackBatches closes leftovers before a commit and forgets them on
 * abort.
 */
static void
XactCallbackBatches(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			while (open_batches != NIL)
				ZbxhistCloseBatch(linitial(open_batches));
			break;
		case XACT_EVENT_ABORT:
			while (open_batches != NIL)
				DiscardBatch(linitial(open_batches));
			break;
		default:
			break;
	}
}

/*
 * SubXactCallbackBatches does the same for a subtransaction; one that commits
 * leaves its batches to its parent.
 */
static void
SubXactCallbackBatches(SubXactEvent event, SubTransactionId subid,
					   SubTransactionId parent_subid, void *arg)
{
	List	   *batches;
	ListCell   *lc;

	if (open_batches == NIL ||
		(event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB))
		return;

	batches = list_copy(open_batches);
	foreach(lc, batches)
	{
		InsertBatch *batch = lfirst(lc);

		if (batch->subid != subid)
			continue;
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			batch->subid = parent_subid;
		else
			DiscardBatch(batch);
	}
	list_free(batches);
}

/*
 * ZbxhistBatchInit registers the transaction callbacks.
 */
void
ZbxhistBatchInit(void)
{
	RegisterXactCallback(XactCallbackBatches, NULL);
	RegisterSubXactCallback(SubXactCallbackBatches, NULL);
}
