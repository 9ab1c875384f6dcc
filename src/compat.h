/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  Everything that differs between PostgreSQL 15 to 19.
 *
 * A wrapper has the signature of the newest version.  So callers need no test of the
 * version, and to drop an old version means to delete lines here.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_COMPAT_H
#define ZBXHIST_COMPAT_H

#include "executor/executor.h"
#include "executor/instrument.h"
#include "fmgr.h"
#include "storage/smgr.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 200000
#error "zbxhist supports PostgreSQL 15 to 19"
#endif

/* 16 took the macros for varlena out of postgres.h (d952373a9) */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* fmgr.h declares it from 16 on (commit 8f9b4ad6a) */
#if PG_VERSION_NUM < 160000
extern PGDLLEXPORT void _PG_init(void);
#endif

/* 18 has it before the declaration, not after (5a4e4ac4a) */
#if PG_VERSION_NUM < 180000
#define pg_noreturn __attribute__((noreturn))
#endif

/* PostgreSQL 18 lets a module say its name and version (9324c8c58) */
#if PG_VERSION_NUM >= 180000
#define ZBXHIST_MODULE_MAGIC(module, number) \
	PG_MODULE_MAGIC_EXT(.name = module, .version = number)
#else
#define ZBXHIST_MODULE_MAGIC(module, number) PG_MODULE_MAGIC
#endif

/* ExecutorRun lost its argument execute_once in 18 (3eea7a0c9) */
#if PG_VERSION_NUM >= 180000
#define EXECUTOR_RUN_PROTO \
	QueryDesc *queryDesc, ScanDirection direction, uint64 count
#define EXECUTOR_RUN_ARGS queryDesc, direction, count
#else
#define EXECUTOR_RUN_PROTO \
	QueryDesc *queryDesc, ScanDirection direction, uint64 count, \
	bool execute_once
#define EXECUTOR_RUN_ARGS queryDesc, direction, count, execute_once
#endif

/* the planner is told by 19 for which EXPLAIN it plans (c83ac02ec) */
#if PG_VERSION_NUM >= 190000
#define PLANNER_PROTO \
	Query *query, const char *query_string, int cursor_options, \
	ParamListInfo params, struct ExplainState *es
#define PLANNER_ARGS query, query_string, cursor_options, params, es
#define pg_plan_query_compat(query, text, options, params) \
	pg_plan_query((query), (text), (options), (params), NULL)
#define standard_planner_compat(query, text, options, params) \
	standard_planner((query), (text), (options), (params), NULL)
#else
#define PLANNER_PROTO \
	Query *query, const char *query_string, int cursor_options, \
	ParamListInfo params
#define PLANNER_ARGS query, query_string, cursor_options, params
#define pg_plan_query_compat(query, text, options, params) \
	pg_plan_query((query), (text), (options), (params))
#define standard_planner_compat(query, text, options, params) \
	standard_planner((query), (text), (options), (params))
#endif

/*
 * 19 has a hook for what the planner knows of an entry of FROM, table or not,
 * in place of one for tables (91f33a2ae).
 */
#if PG_VERSION_NUM >= 190000
#include "optimizer/pathnode.h"
#define BUILD_SIMPLE_REL_PROTO \
	PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define BUILD_SIMPLE_REL_ARGS root, rel, rte
#else
#include "optimizer/plancat.h"
#define build_simple_rel_hook get_relation_info_hook
#define build_simple_rel_hook_type get_relation_info_hook_type
#define BUILD_SIMPLE_REL_PROTO \
	PlannerInfo *root, Oid relid, bool inhparent, RelOptInfo *rel
#define BUILD_SIMPLE_REL_ARGS root, relid, inhparent, rel
#endif

/* 19 wants to be told when a description of columns is complete */
#if PG_VERSION_NUM < 190000
#define TupleDescFinalize(desc)		((void) 0)
#endif

/* 19 has ON CONFLICT DO SELECT */
#if PG_VERSION_NUM >= 190000
#define is_conflict_select(action) ((action) == ONCONFLICT_SELECT)
#else
#define is_conflict_select(action) false
#endif

/*
 * add_processed adds rows to what the command tag will say; from 16 on
 * es_total_processed is what pg_stat_statements reads (cdf465cf3).
 */
static inline void
add_processed(EState *estate, uint64 rows)
{
	estate->es_processed += rows;
#if PG_VERSION_NUM >= 160000
	estate->es_total_processed += rows;
#endif
}

/*
 * ExecInsertIndexTuples got onlySummarizing in 16 (19d8e2308), and flags in
 * place of all that is true or false in 19
 */
static inline List *
ExecInsertIndexTuplesCompat(ResultRelInfo *rri, TupleTableSlot *slot,
							EState *estate)
{
#if PG_VERSION_NUM >= 190000
	return ExecInsertIndexTuples(rri, estate, 0, slot, NIL, NULL);
#elif PG_VERSION_NUM >= 160000
	return ExecInsertIndexTuples(rri, slot, estate, false, false, NULL, NIL,
								 false);
#else
	return ExecInsertIndexTuples(rri, slot, estate, false, false, NULL, NIL);
#endif
}

/*
 * restrict_search_path lets only what comes with PostgreSQL be found, up to the
 * end of the GUC nest level; 17 has a function of its own for it (4fa1eea5c).
 */
#include "utils/guc.h"

static inline void
restrict_search_path(void)
{
#if PG_VERSION_NUM >= 170000
	RestrictSearchPath();
#else
	(void) set_config_option("search_path", "pg_catalog, pg_temp",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
#endif
}

/* the i-th backend of pg_stat_activity, from 1 on; 16 renamed it (8d2c1913e) */
#include "utils/backend_status.h"

static inline const PgBackendStatus *
get_backend_status(int i)
{
#if PG_VERSION_NUM >= 160000
	LocalPgBackendStatus *backend = pgstat_get_local_beentry_by_index(i);
#else
	LocalPgBackendStatus *backend = pgstat_fetch_stat_local_beentry(i);
#endif

	return backend != NULL ? &backend->backendStatus : NULL;
}

/* 16 replaced pg_class_ownercheck by object_ownercheck (afbfc0298) */
#if PG_VERSION_NUM >= 160000
#define owns_relation(relid, role) \
	object_ownercheck(RelationRelationId, (relid), (role))
#else
#define owns_relation(relid, role) pg_class_ownercheck((relid), (role))
#endif

/*
 * may_execute says whether the user may execute a function; 16 replaced
 * pg_proc_aclcheck (c727f511b).
 */
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

static inline bool
may_execute(Oid funcid)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, funcid, GetUserId(),
						   ACL_EXECUTE) == ACLCHECK_OK;
#else
	return pg_proc_aclcheck(funcid, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

/*
 * check_function_execute raises the error of an expression whose user may not.
 */
static inline void
check_function_execute(Oid funcid)
{
	if (!may_execute(funcid))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION,
					   get_func_name(funcid));
}

/*
 * may_use_schema says whether the user may look for objects in a schema; 16
 * replaced pg_namespace_aclcheck (c727f511b).
 */
#include "catalog/pg_namespace.h"

static inline bool
may_use_schema(Oid schema)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(NamespaceRelationId, schema, GetUserId(),
						   ACL_USAGE) == ACLCHECK_OK;
#else
	return pg_namespace_aclcheck(schema, GetUserId(),
								 ACL_USAGE) == ACLCHECK_OK;
#endif
}

/*
 * may_connect says whether a role may connect to the database.
 */
#include "catalog/pg_database.h"

static inline bool
may_connect(Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(DatabaseRelationId, MyDatabaseId, role,
						   ACL_CONNECT) == ACLCHECK_OK;
#else
	return pg_database_aclcheck(MyDatabaseId, role, ACL_CONNECT) == ACLCHECK_OK;
#endif
}

/* 18 moved ExplainPropertyInteger out of commands/explain.h (c65bc2e1d) */
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#else
#include "commands/explain.h"
#endif

/*
 * shows_table_names says whether EXPLAIN names a column's table; 18 does not
 * count the range table's entry for grouping, which is new in it (247dea89f).
 */
static inline bool
shows_table_names(const ExplainState *es)
{
#if PG_VERSION_NUM >= 180000
	return es->verbose || es->rtable_size > 1;
#else
	return es->verbose || list_length(es->rtable) > 1;
#endif
}

#if PG_VERSION_NUM >= 180000
#define ExecutorRunCompat(query) ExecutorRun((query), ForwardScanDirection, 0)
#else
#define ExecutorRunCompat(query) \
	ExecutorRun((query), ForwardScanDirection, 0, true)
#endif

/* PortalRun lost its argument run_once in 18 (3eea7a0c9) */
#if PG_VERSION_NUM >= 180000
#define PortalRunCompat(portal, count, top, dest, altdest, qc) \
	PortalRun((portal), (count), (top), (dest), (altdest), (qc))
#else
#define PortalRunCompat(portal, count, top, dest, altdest, qc) \
	PortalRun((portal), (count), (top), true, (dest), (altdest), (qc))
#endif

/* 17 lets a background worker use a role that may not log in (492217301) */
#if PG_VERSION_NUM >= 170000
#define WORKER_CONNECTION_FLAGS BGWORKER_BYPASS_ROLELOGINCHECK
#else
#define WORKER_CONNECTION_FLAGS 0
#endif

/*
 * index_beginscan got its instrumentation argument in 18 (0fbceae84); scans
 * have flags in 19
 */
#if PG_VERSION_NUM >= 190000
#include "access/tableam.h"
#define index_beginscan_compat(heap, index, snapshot, nkeys) \
	index_beginscan((heap), (index), (snapshot), NULL, (nkeys), 0, SO_NONE)
#define table_beginscan_compat(rel, snapshot) \
	table_beginscan((rel), (snapshot), 0, NULL, SO_NONE)
#define table_beginscan_tidrange_compat(rel, snapshot, first, last) \
	table_beginscan_tidrange((rel), (snapshot), (first), (last), SO_NONE)
#else
#define table_beginscan_compat(rel, snapshot) \
	table_beginscan((rel), (snapshot), 0, NULL)
#define table_beginscan_tidrange_compat(rel, snapshot, first, last) \
	table_beginscan_tidrange((rel), (snapshot), (first), (last))
#if PG_VERSION_NUM >= 180000
#define index_beginscan_compat(heap, index, snapshot, nkeys) \
	index_beginscan((heap), (index), (snapshot), NULL, (nkeys), 0)
#else
#define index_beginscan_compat(heap, index, snapshot, nkeys) \
	index_beginscan((heap), (index), (snapshot), (nkeys), 0)
#endif
#endif

/*
 * table_tuple_delete has flags in 19; here it waits for others who change the
 * row, which is moved to another partition or not.
 */
#if PG_VERSION_NUM >= 190000
#define table_tuple_delete_compat(rel, tid, snapshot, crosscheck, failure, moved) \
	table_tuple_delete((rel), (tid), GetCurrentCommandId(true), \
					   (moved) ? TABLE_DELETE_CHANGING_PARTITION : 0, \
					   (snapshot), (crosscheck), true, (failure))
#else
#define table_tuple_delete_compat(rel, tid, snapshot, crosscheck, failure, moved) \
	table_tuple_delete((rel), (tid), GetCurrentCommandId(true), (snapshot), \
					   (crosscheck), true, (failure), (moved))
#endif

/* 19 renamed what is counted of a node */
#if PG_VERSION_NUM < 190000
typedef Instrumentation NodeInstrumentation;
#endif

/*
 * create_foreignscan_path got the local conditions in 17 (9e9931d2b) and the
 * number of disabled nodes in 18 (e22253467).
 */
#include "optimizer/pathnode.h"

static inline ForeignPath *
create_foreignscan_path_compat(PlannerInfo *root, RelOptInfo *rel, double rows,
							   Cost startup_cost, Cost total_cost,
							   List *pathkeys, Relids required_outer,
							   List *fdw_private)
{
#if PG_VERSION_NUM >= 180000
	return create_foreignscan_path(root, rel, NULL, rows, 0, startup_cost,
								   total_cost, pathkeys, required_outer, NULL,
								   NIL, fdw_private);
#elif PG_VERSION_NUM >= 170000
	return create_foreignscan_path(root, rel, NULL, rows, startup_cost,
								   total_cost, pathkeys, required_outer, NULL,
								   NIL, fdw_private);
#else
	return create_foreignscan_path(root, rel, NULL, rows, startup_cost,
								   total_cost, pathkeys, required_outer, NULL,
								   fdw_private);
#endif
}

/*
 * create_append_path and create_merge_append_path are told in 19 which relations'
 * tables have been put together.
 */
static inline AppendPath *
create_append_path_compat(PlannerInfo *root, RelOptInfo *rel, List *subpaths,
						  List *pathkeys)
{
#if PG_VERSION_NUM >= 190000
	AppendPathInput input = {.subpaths = subpaths};

	return create_append_path(root, rel, input, pathkeys, NULL, 0, false, -1);
#else
	return create_append_path(root, rel, subpaths, NIL, pathkeys, NULL, 0, false, -1);
#endif
}

/*
 * create_merge_append_path_compat is the same for one that merges.
 */
static inline MergeAppendPath *
create_merge_append_path_compat(PlannerInfo *root, RelOptInfo *rel, List *subpaths,
								List *pathkeys)
{
#if PG_VERSION_NUM >= 190000
	return create_merge_append_path(root, rel, subpaths, NIL, pathkeys, NULL);
#else
	return create_merge_append_path(root, rel, subpaths, pathkeys, NULL);
#endif
}

/*
 * 17 has an interface for files that are written page by page (8af256524); before,
 * compat.c does as much of it as is used here
 */
#if PG_VERSION_NUM >= 170000
#include "storage/bulk_write.h"
#else
typedef struct BulkWriteState BulkWriteState;
typedef PGAlignedBlock *BulkWriteBuffer;

extern BulkWriteState *smgr_bulk_start_rel(Relation rel, ForkNumber fork);
extern BulkWriteBuffer smgr_bulk_get_buf(BulkWriteState *state);
extern void smgr_bulk_write(BulkWriteState *state, BlockNumber block,
							BulkWriteBuffer buffer, bool is_standard);
extern void smgr_bulk_finish(BulkWriteState *state);
#endif

/* 18 has NOT NULL constraints that older rows may violate (a379061a2) */
#if PG_VERSION_NUM >= 180000
#define has_no_nulls(desc, attnum) \
	(TupleDescCompactAttr((desc), (attnum) - 1)->attnullability == ATTNULLABLE_VALID)
#else
#define has_no_nulls(desc, attnum) \
	(TupleDescAttr((desc), (attnum) - 1)->attnotnull)
#endif

/* 18 has virtual generated columns (83ea6c540) */
#if PG_VERSION_NUM >= 180000
#define has_generated_columns(constr) \
	((constr)->has_generated_stored || (constr)->has_generated_virtual)
#define has_virtual_columns(constr) \
	((constr) != NULL && (constr)->has_generated_virtual)
#else
#define has_generated_columns(constr) ((constr)->has_generated_stored)
#define has_virtual_columns(constr) false
#endif

/*
 * attach_counters_memory returns named shared memory of that size, which init
 * fills when it is new, or NULL if there can be none; request_counters_memory
 * is called from _PG_init.  17 brought the DSM registry (8b2bcf3f2); before,
 * memory must be asked for while the server starts.  19 has an argument for
 * init.
 */
#if PG_VERSION_NUM >= 190000
#define MEMORY_INIT_PROTO void *memory, void *arg
#else
#define MEMORY_INIT_PROTO void *memory
#endif

#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"

#define request_counters_memory(size) ((void) (size))

static inline void *
attach_counters_memory(const char *name, Size size,
					   void (*init) (MEMORY_INIT_PROTO))
{
	bool		found;

#if PG_VERSION_NUM >= 190000
	return GetNamedDSMSegment(name, size, init, &found, NULL);
#else
	return GetNamedDSMSegment(name, size, init, &found);
#endif
}
#else
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

extern void zbxhist_request_shmem(Size size);
extern bool zbxhist_shmem_requested;

#define request_counters_memory(size) zbxhist_request_shmem(size)

/* as above, of the memory that was asked for when the server started */
static inline void *
attach_counters_memory(const char *name, Size size,
					   void (*init) (MEMORY_INIT_PROTO))
{
	void	   *memory;
	bool		found;

	if (!zbxhist_shmem_requested)
		return NULL;
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	memory = ShmemInitStruct(name, size, &found);
	if (!found)
		(*init) (memory);
	LWLockRelease(AddinShmemInitLock);
	return memory;
}
#endif

/* 18 describes directions of sort keys and of row comparisons without btree's words
 * (8123e91f5) */
#if PG_VERSION_NUM >= 180000
#define pathkey_is_descending(key) ((key)->pk_cmptype == COMPARE_GT)
#define row_comparison_strategy(row) ((int) (row)->cmptype)
#else
#include "access/stratnum.h"
#define pathkey_is_descending(key) ((key)->pk_strategy == BTGreaterStrategyNumber)
#define row_comparison_strategy(row) ((int) (row)->rctype)
#endif

/* estimate_array_length got the planner's state in 17 (9391f7152) */
#if PG_VERSION_NUM >= 170000
#define estimate_array_length_compat(root, array) \
	estimate_array_length((root), (array))
#else
#define estimate_array_length_compat(root, array) \
	((double) estimate_array_length(array))
#endif

/* ExecuteTruncateGuts got run_as_table_owner in 16 (1e10d49b6) */
#if PG_VERSION_NUM >= 160000
#define ExecuteTruncateGutsCompat(rels, relids, logged, behavior, restart) \
	ExecuteTruncateGuts((rels), (relids), (logged), (behavior), (restart), \
						false)
#else
#define ExecuteTruncateGutsCompat(rels, relids, logged, behavior, restart) \
	ExecuteTruncateGuts((rels), (relids), (logged), (behavior), (restart))
#endif

/* vacuum_delay_point was told apart for ANALYZE in 18 (e5b0b0ce1) */
#if PG_VERSION_NUM >= 180000
#define vacuum_delay_point_compat() vacuum_delay_point(true)
#else
#define vacuum_delay_point_compat() vacuum_delay_point()
#endif

/* see compat.c */
extern EquivalenceMember *find_equivalence_member(EquivalenceClass *ec,
												  RelOptInfo *rel,
												  AttrNumber attnum);
extern Oid	get_owner(Oid relid);
extern int	count_relations(const Query *query);
extern Node *ungrouped_expr(Query *query, Node *expr);
extern void ungroup_query(Query *query);
extern Oid	relation_user(const Query *query, const RangeTblEntry *rte);
extern void set_changed_table(Query *query, Oid relid);
extern bool is_valid_json(const char *data, int length);
extern void keep_file_open(SMgrRelation *kept, SMgrRelation smgr);
extern Bitmapset *updated_columns(const PlannedStmt *stmt, RangeTblEntry *rte);
extern bool is_locked_by_me(Oid relid);
extern BlockNumber count_blocks(Oid relid, Oid *toast);
extern bool lock_if_empty(Oid relid, LOCKMODE lockmode, SMgrRelation *kept);

#endif							/* ZBXHIST_COMPAT_H */
