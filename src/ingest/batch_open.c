/*-------------------------------------------------------------------------
 *
 * batch_open.c
 *	  Opens and closes the batches of statements.
 *
 * A batch has the rows that a statement routes, from the first one until they are
 * written.  It belongs to one result relation of the statement, known by its copy of the
 * row trigger, or to the plan node that stores literals without a trigger.  It opens with
 * the first row and closes when the statement ends: in ExecutorFinish before any AFTER
 * trigger, or, for COPY and for a statement that began before the library was loaded, in
 * the AFTER STATEMENT trigger.  The transaction's end closes what neither did.  So when a
 * statement reports success, its rows are stored, and a violation is an error of that
 * statement.
 *
 * A batch belongs to the subtransaction in which it was opened, and is written only in
 * that one.  If it were written in an inner subtransaction, its rows could be rolled back
 * without the statement.
 *
 * Closed batches go to a pool and keep their slots.  On abort nothing is
 * written; the resource owner has closed the relations.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/trigger.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "guc.h"
#include "ingest/batch_private.h"
#include "ingest/frame.h"
#include "ingest/insert_triggers.h"

/* idle batches that are kept; others are freed */
#define MAX_POOLED_BATCHES 16

static List *open_batches = NIL;	/* of InsertBatch, newest first */
static List *pooled_batches = NIL;

/* ---- the pool ---- */

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
 * TakeFromPool returns an idle batch: the one last used for parent, because its slots
 * fit, else a new one, or if there are many, the one that has been idle longest.
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

/* ---- opening ---- */

/*
 * ChooseAction decides by the session's settings how rows are stored.  (Settings may have
 * changed since the statement was planned.)
 */
static RowAction
ChooseAction(void)
{
	if (!zbxhist_enable_routing ||
		SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA)
		return ROW_KEEP;
	return zbxhist_enable_batching ? ROW_BUFFER : ROW_INSERT;
}

/*
 * IsClosed says whether somebody closes the statement's batch when it ends: a
 * hook, or else our statement trigger, which may have been disabled.
 */
static bool
IsClosed(const TriggerData *trigdata, const StatementInfo *info)
{
	return (info->frame != NULL && info->frame->query != NULL) ||
		ZbxhistEndsStatement(trigdata);
}

/*
 * ChooseTriggerAction decides how the rows of the statement that fires the
 * row trigger may be stored.
 */
static RowAction
ChooseTriggerAction(const TriggerData *trigdata, const StatementInfo *info)
{
	RowAction	action = ChooseAction();

	if (info->on_conflict == ONCONFLICT_NOTHING)
		return ROW_SKIP_EXISTING;
	if (is_conflict_select(info->on_conflict))
		return ROW_REFUSE_SELECT;
	if (info->on_conflict == ONCONFLICT_UPDATE)
		return ROW_REFUSE_UPDATE;
	/* transition tables have only rows stored in the parent */
	if (!info->is_known || info->needs_row ||
		trigdata->tg_relation->trigdesc->trig_insert_new_table ||
		!IsClosed(trigdata, info))
		return ROW_KEEP;
	if (action == ROW_BUFFER &&
		(info->runs_functions || ZbxhistHasOtherRowTriggers(trigdata)))
		return ROW_INSERT;
	return action;
}

/*
 * OpenBatch opens a batch for rows of parent, to be inserted as by command cid,
 * and counted for path.
 */
static InsertBatch *
OpenBatch(Relation parent, const void *owner, const QueryDesc *query,
		  CommandId cid, InsertPath path)
{
	PartitionSet *set = ZbxhistGetPartitionSet(parent);
	InsertBatch *batch = TakeFromPool(RelationGetRelid(parent));
	MemoryContext old;

	ZbxhistSetBatchRowType(batch, RelationGetDescr(parent));
	batch->owner = owner;
	batch->query = query;
	batch->parent = RelationGetRelid(parent);
	batch->subid = GetCurrentSubTransactionId();
	batch->cid = cid;
	batch->action = ChooseAction();
	batch->has_executor = false;
	batch->sets_tag = false;
	batch->set = set;
	batch->generation = set->generation;
	batch->place.relid = InvalidOid;
	batch->is_sorted = true;
	batch->has_strays = false;
	batch->left_out.nitems = 0;
	ZbxhistSetClockLimits(&batch->left_out, set);
	memset(&batch->stats, 0, sizeof(batch->stats));
	batch->stats.path = path;

	old = MemoryContextSwitchTo(TopMemoryContext);
	open_batches = lcons(batch, open_batches);
	MemoryContextSwitchTo(old);
	return batch;
}

/*
 * ZbxhistOpenBatch opens a batch for rows that come without the trigger: owner, a
 * plan node, stores all of them by it.  The parent is locked.  It is closed by
 * ZbxhistCloseBatch, or at the end of the transaction.
 */
InsertBatch *
ZbxhistOpenBatch(Relation parent, const void *owner, CommandId cid)
{
	ExecFrame  *frame = ZbxhistCurrentFrame();

	return OpenBatch(parent, owner, frame ? frame->query : NULL, cid,
					 PATH_FAST);
}

/*
 * OpenTriggerBatch opens a batch for the statement that fires trigdata's
 * trigger.  The executor stores what does not go to a partition.
 */
static InsertBatch *
OpenTriggerBatch(const TriggerData *trigdata)
{
	StatementInfo info;
	const QueryDesc *query;
	InsertBatch *batch;

	ZbxhistDescribeStatement(trigdata, &info);
	query = info.frame ? info.frame->query : NULL;
	batch = OpenBatch(trigdata->tg_relation, trigdata->tg_trigger, query,
					  query ? query->estate->es_output_cid :
					  GetCurrentCommandId(true),
					  ZbxhistFindInsertPath(trigdata, &info));
	batch->has_executor = true;
	batch->action = ChooseTriggerAction(trigdata, &info);
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
	return batch->has_executor && batch->query == NULL &&
		batch->action == ROW_KEEP &&
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
 * ZbxhistBatchMemory returns the memory context of a batch's rows.
 */
MemoryContext
ZbxhistBatchMemory(const InsertBatch *batch)
{
	return batch->rows_context;
}

/* ---- closing ---- */

/*
 * ZbxhistCloseBatch writes and checks all that is left and gives the batch
 * back.  Returns how many of its rows were stored, and where.
 */
InsertStats
ZbxhistCloseBatch(InsertBatch *batch)
{
	InsertStats stats;

	ZbxhistFlushBatch(batch);
	ZbxhistCheckBatchKeptRows(batch);
	ZbxhistCloseBatchTarget(batch);
	ZbxhistNoteLeftOut(&batch->left_out, batch->parent);
	stats = batch->stats;
	ZbxhistCountersAdd(batch->parent, &stats);
	ReleaseBatch(batch);
	return stats;
}

/*
 * DiscardBatch forgets a batch whose (sub)transaction is aborted.
 */
static void
DiscardBatch(InsertBatch *batch)
{
	ZbxhistClearRows(batch);
	ZbxhistClearKeptRows(batch);
	if (batch->target != NULL)
		MemoryContextDelete(batch->target->context);
	batch->target = NULL;
	batch->is_flushing = false;
	ReleaseBatch(batch);
}

/* ---- ends of statements and transactions ---- */

/*
 * ZbxhistCloseRelation closes the parent's batches that no executor hook
 * closes: those of COPY and of a statement older than the library.
 */
void
ZbxhistCloseRelation(Oid parent)
{
	ExecFrame  *frame = ZbxhistCurrentFrame();
	List	   *batches = list_copy(open_batches);
	ListCell   *lc;

	foreach(lc, batches)
	{
		InsertBatch *batch = lfirst(lc);

		/* a batch that is flushing belongs to an outer statement */
		if (batch->parent == parent && !batch->is_flushing &&
			(batch->query == NULL ||
			 (frame != NULL && batch->query == frame->query)) &&
			batch->subid == GetCurrentSubTransactionId())
			ZbxhistCloseBatch(batch);
	}
	list_free(batches);
}

/*
 * ZbxhistCloseQuery closes the batches of a query.
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
 * XactCallbackBatches closes open batches before a commit and discards them on abort.
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
