/*-------------------------------------------------------------------------
 *
 * key_scan.c
 *	  Plans and executes SELECT of rows by a list of their keys.
 *
 * Keys are of any partition or packed day, mostly few of each.  The planner would
 * look for paths by all of them in each table, and the executor look in each table for
 * all, which takes longer the more tables there are.  So such a query
 * (key_query.c) is planned for the parent alone, with a custom scan in place of
 * all paths, which looks each key up where its clock says that it is
 * (read/reader.c), and in the parent's own rows.
 *
 * select.c marks the entry of the parent with the keys, which WHERE does not have
 * any more.  Conditions that are left are the planner's and the executor's.
 *
 * Locks and the snapshot are the query's; privileges are those on the parent.
 * All partitions that may have rows are locked (locked_partitions.c), but only those
 * that keys are of are opened, and stay so until the scan ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "utils/array.h"
#include "utils/rel.h"

#include "compat.h"
#include "compat_marks.h"
#include "custom_scan.h"
#include "packed/fdw/fdw.h"
#include "packed/fdw/fdw_quals.h"
#include "plan/key_scan.h"
#include "plan/locked_partitions.h"
#include "read/reader.h"

/* numbers in a KeyRange */
#define NUM_KEY_NUMBERS ((int) (sizeof(KeyRange) / sizeof(int64)))

typedef struct KeyScanState
{
	CustomScanState css;		/* must be first */
	int			nkeys;
	const KeyRange *keys;		/* the plan's */
	int			next_key;
	ItemReader *reader;			/* NULL: nothing has been read yet */
	LockedPartitions locked;
} KeyScanState;

/* ---- planning ---- */

/*
 * ZbxhistMarkKeyScan marks the entry of the table of such a query with its keys, as a
 * constant.
 */
void
ZbxhistMarkKeyScan(RangeTblEntry *rte, const KeyQuery *query)
{
	rte->inh = false;
	mark_table(rte, MARK_KEY_SCAN,
			   ZbxhistMakeArray((const int64 *) query->keys,
								query->nkeys * NUM_KEY_NUMBERS));
}

/*
 * GetKeysOfMark returns the keys of such a constant, and their number.
 */
static const KeyRange *
GetKeysOfMark(const Const *mark, int *nkeys)
{
	ArrayType  *array = DatumGetArrayTypeP(mark->constvalue);

	*nkeys = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) / NUM_KEY_NUMBERS;
	return (const KeyRange *) ARR_DATA_PTR(array);
}

static const CustomExecMethods key_exec_methods;

const ScanNode zbxhist_key_scan = {
	.methods = {"ZbxhistKeys", create_scan_state},
	.state_size = sizeof(KeyScanState),
	.exec_methods = &key_exec_methods
};

/*
 * PlanKeys makes the plan of the path.
 */
static Plan *
PlanKeys(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
		 List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = extract_actual_clauses(clauses, false);
	scan->scan.scanrelid = rel->relid;
	scan->flags = path->flags;
	scan->custom_private = path->custom_private;
	scan->methods = &zbxhist_key_scan.methods;
	return &scan->scan.plan;
}

static const CustomPathMethods key_path_methods = {
	.CustomName = "ZbxhistKeys",
	.PlanCustomPath = PlanKeys
};

/*
 * MakeKeyPath makes the path.  Each key is taken to have a row.
 */
static CustomPath *
MakeKeyPath(PlannerInfo *root, RelOptInfo *rel, Const *mark)
{
	CustomPath *path;
	int			nkeys;

	(void) GetKeysOfMark(mark, &nkeys);
	path = make_scan_path(rel,
						  get_baserel_parampathinfo(root, rel,
													rel->lateral_relids),
						  &key_path_methods, list_make1(mark));
	path->path.rows = clamp_row_est(nkeys);
	path->path.total_cost = path->path.rows *
		(random_page_cost + cpu_tuple_cost + cpu_index_tuple_cost);
	return path;
}

/*
 * ZbxhistConsiderKeyScan puts the path in place of those that the planner has
 * found for a table that is marked.
 */
void
ZbxhistConsiderKeyScan(PlannerInfo *root, RelOptInfo *rel, Index rti,
					   RangeTblEntry *rte)
{
	Const	   *mark = get_table_mark(rte, MARK_KEY_SCAN);
	CustomPath *path;

	if (mark == NULL || IS_DUMMY_REL(rel))
		return;
	path = MakeKeyPath(root, rel, mark);
	/* the parent's own rows, which were estimated, are mostly none */
	rel->rows = path->path.rows;
	rel->tuples = Max(rel->tuples, rel->rows);
	rel->pathlist = NIL;
	rel->partial_pathlist = NIL;
	add_path(rel, &path->path);
}

/* ---- execution ---- */

/*
 * BeginKeys takes the keys from the plan; nothing is opened before the first row is
 * asked for.
 */
static void
BeginKeys(CustomScanState *node, EState *estate, int eflags)
{
	KeyScanState *state = (KeyScanState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;

	state->keys = GetKeysOfMark(linitial_node(Const, scan->custom_private),
								&state->nkeys);
}

/*
 * OpenKeys locks what may have rows of the keys and opens the reader.
 */
static void
OpenKeys(KeyScanState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	Relation	parent = state->css.ss.ss_currentRelation;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	ItemRange	range;

	ZbxhistWholeItem(&range, 0);
	range.first = PG_INT64_MAX;
	range.last = PG_INT64_MIN;
	for (int i = 0; i < state->nkeys; i++)
	{
		range.first = Min(range.first, state->keys[i].first);
		range.last = Max(range.last, state->keys[i].last);
	}
	ZbxhistLockPartitions(parent, &range, &state->locked);
	state->reader = ZbxhistOpenReader(parent, estate->es_snapshot, true);
	MemoryContextSwitchTo(old);
}

/*
 * ReadNext goes to the next row, of the present key or of those that follow; returns
 * false at the end.
 */
static bool
ReadNext(KeyScanState *state)
{
	while (state->next_key == 0 || !ZbxhistReadNext(state->reader))
	{
		const KeyRange *key;
		ItemRange	range;

		CHECK_FOR_INTERRUPTS();
		if (state->next_key == state->nkeys)
			return false;
		key = &state->keys[state->next_key++];
		ZbxhistWholeItem(&range, key->itemid);
		range.first = key->first;
		range.last = key->last;
		ZbxhistReadItem(state->reader, &range);
	}
	return true;
}

/*
 * NextOfKeys puts the next row into the scan's slot, which is empty at the end.
 * Values stay where they are until the next one is read.
 */
static TupleTableSlot *
NextOfKeys(ScanState *node)
{
	KeyScanState *state = (KeyScanState *) node;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;

	if (state->reader == NULL)
		OpenKeys(state);
	ExecClearTuple(slot);
	return ReadNext(state) ? fill_read(state->reader, slot) : slot;
}

/*
 * ExecKeys gives out the next row that passes the other conditions.
 */
static TupleTableSlot *
ExecKeys(CustomScanState *node)
{
	return ExecScan(&node->ss, NextOfKeys, recheck_nothing);
}

/*
 * EndKeys closes what is open.
 */
static void
EndKeys(CustomScanState *node)
{
	KeyScanState *state = (KeyScanState *) node;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (state->reader != NULL)
		ZbxhistCloseReader(state->reader);
	state->reader = NULL;
}

/*
 * ReScanKeys begins anew; what is open stays so.
 */
static void
ReScanKeys(CustomScanState *node)
{
	KeyScanState *state = (KeyScanState *) node;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	state->next_key = 0;
	ExecScanReScan(&node->ss);
}

/*
 * ExplainKeyScan shows how many keys there are, and with ANALYZE how many
 * tables have been read.
 */
static void
ExplainKeyScan(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const KeyScanState *state = (const KeyScanState *) node;

	ExplainPropertyInteger("Keys", NULL, state->nkeys, es);
	if (!es->analyze)
		return;
	ExplainPropertyInteger("Tables Read", NULL, state->reader == NULL ? 0 :
						   ZbxhistCountSources(state->reader), es);
	if (state->reader != NULL)
		ZbxhistExplainRuns(ZbxhistCountRunsOf(state->reader), es);
}

static const CustomExecMethods key_exec_methods = {
	.CustomName = "ZbxhistKeys",
	.BeginCustomScan = BeginKeys,
	.ExecCustomScan = ExecKeys,
	.EndCustomScan = EndKeys,
	.ReScanCustomScan = ReScanKeys,
	.ExplainCustomScan = ExplainKeyScan
};
