/*-------------------------------------------------------------------------
 *
 * compat.c
 *	  Function bodies and state for compat.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/pg_am.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "common/jsonapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/smgr.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"

#if PG_VERSION_NUM < 170000

bool		zbxhist_shmem_requested = false;

static Size requested_size = 0;
static shmem_request_hook_type prev_shmem_request = NULL;

/*
 * RequestShmem requests the memory when the server adds up what all
 * libraries need.
 */
static void
RequestShmem(void)
{
	if (prev_shmem_request)
		(*prev_shmem_request) ();
	RequestAddinShmemSpace(requested_size);
}

/*
 * zbxhist_request_shmem prepares for size bytes of shared memory, if the
 * library is being loaded by shared_preload_libraries.
 */
void
zbxhist_request_shmem(Size size)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	requested_size = size;
	prev_shmem_request = shmem_request_hook;
	shmem_request_hook = RequestShmem;
	zbxhist_shmem_requested = true;
}

#endif

/*
 * get_owner returns the owner of a relation, or InvalidOid if it is gone.
 */
Oid
get_owner(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			result;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	result = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * relation_user returns the user as whom a query reads a relation, or
 * InvalidOid for the current one.
 */
Oid
relation_user(const Query *query, const RangeTblEntry *rte)
{
#if PG_VERSION_NUM >= 160000
	return getRTEPermissionInfo(query->rteperminfos,
								(RangeTblEntry *) rte)->checkAsUser;
#else
	return rte->checkAsUser;
#endif
}

/*
 * set_changed_table replaces the only table of an UPDATE or DELETE by another one without
 * its children, which is locked and has the same columns.  No privileges are checked for
 * it.
 */
void
set_changed_table(Query *query, Oid relid)
{
	RangeTblEntry *rte = linitial_node(RangeTblEntry, query->rtable);
#if PG_VERSION_NUM >= 160000
	RTEPermissionInfo *info = getRTEPermissionInfo(query->rteperminfos, rte);

	info->relid = relid;
	info->inh = false;
	/* some privilege has to be required, so that of one who has all of them */
	info->requiredPerms = ACL_SELECT;
	info->checkAsUser = BOOTSTRAP_SUPERUSERID;
#else
	rte->requiredPerms = 0;
#endif
	rte->relid = relid;
	rte->relkind = get_rel_relkind(relid);
	rte->inh = false;
}

/*
 * updated_columns returns the columns that a plan may give new values in a
 * relation, which rte is the entry of, as offsets from
 * FirstLowInvalidHeapAttributeNumber.
 */
Bitmapset *
updated_columns(const PlannedStmt *stmt, RangeTblEntry *rte)
{
#if PG_VERSION_NUM >= 160000
	return rte->perminfoindex == 0 ? NULL :
		getRTEPermissionInfo(stmt->permInfos, rte)->updatedCols;
#else
	return rte->updatedCols;
#endif
}

/*
 * find_equivalence_member returns the member of a class that is the column
 * attnum of a relation, or NULL.  18 keeps members of children apart
 * (d69d45a5a).
 */
EquivalenceMember *
find_equivalence_member(EquivalenceClass *ec, RelOptInfo *rel,
						AttrNumber attnum)
{
	EquivalenceMember *member;
#if PG_VERSION_NUM >= 180000
	EquivalenceMemberIterator iterator;

	setup_eclass_member_iterator(&iterator, ec, rel->relids);
	while ((member = eclass_member_iterator_next(&iterator)) != NULL)
#else
	ListCell   *lc;

	foreach(lc, ec->ec_members)
#endif
	{
		Var		   *var;

#if PG_VERSION_NUM < 180000
		member = lfirst(lc);
#endif
		var = (Var *) member->em_expr;
		if (IsA(var, Var) && var->varno == rel->relid &&
			var->varattno == attnum && bms_equal(member->em_relids, rel->relids))
			return member;
	}
	return NULL;
}

/*
 * count_relations returns how many entries of FROM a query has.  18 has one for
 * GROUP BY in the same list (247dea89f).
 */
int
count_relations(const Query *query)
{
#if PG_VERSION_NUM >= 180000
	return list_length(query->rtable) - (query->hasGroupRTE ? 1 : 0);
#else
	return list_length(query->rtable);
#endif
}

/*
 * ungrouped_expr returns an expression of a query in columns of its relations,
 * not of what 18 has for GROUP BY.
 */
Node *
ungrouped_expr(Query *query, Node *expr)
{
#if PG_VERSION_NUM >= 180000
	if (query->hasGroupRTE)
		return flatten_group_exprs(NULL, query, expr);
#endif
	return expr;
}

/*
 * ungroup_query replaces all expressions of a query in this way.
 */
void
ungroup_query(Query *query)
{
#if PG_VERSION_NUM >= 180000
	query->targetList = (List *) ungrouped_expr(query, (Node *) query->targetList);
	query->havingQual = ungrouped_expr(query, query->havingQual);
	query->hasGroupRTE = false;
#endif
}

/*
 * is_valid_json says whether text in the database's encoding is JSON.  17 lets
 * the caller have the lexer's state (1c99cde2f).
 */
bool
is_valid_json(const char *data, int length)
{
	JsonLexContext *lex;
	bool		result;

#if PG_VERSION_NUM >= 170000
	lex = makeJsonLexContextCstringLen(NULL, data, length,
									   GetDatabaseEncoding(), false);
	result = pg_parse_json(lex, &nullSemAction) == JSON_SUCCESS;
	freeJsonLexContext(lex);
#else
	lex = makeJsonLexContextCstringLen((char *) data, length,
									   GetDatabaseEncoding(), false);
	result = pg_parse_json(lex, &nullSemAction) == JSON_SUCCESS;
	pfree(lex);
#endif
	return result;
}

#if PG_VERSION_NUM < 170000
/* the state of smgr_bulk_start_rel() and the others; they hold one page at a time */
struct BulkWriteState
{
	Relation	rel;
	ForkNumber	fork;
	XLogRecPtr	redo;			/* where recovery started, when this began */
	BulkWriteBuffer buffer;
};

/*
 * smgr_bulk_start_rel prepares for writing an empty file.  Allocates in the
 * current context.
 */
BulkWriteState *
smgr_bulk_start_rel(Relation rel, ForkNumber fork)
{
	BulkWriteState *state = palloc(sizeof(BulkWriteState));

	state->rel = rel;
	state->fork = fork;
	state->redo = GetRedoRecPtr();
#if PG_VERSION_NUM >= 160000
	state->buffer = palloc_aligned(BLCKSZ, PG_IO_ALIGN_SIZE, 0);
#else
	state->buffer = palloc(BLCKSZ);
#endif
	return state;
}

/*
 * smgr_bulk_get_buf returns memory for the next page, until that is written.
 */
BulkWriteBuffer
smgr_bulk_get_buf(BulkWriteState *state)
{
	return state->buffer;
}

/*
 * smgr_bulk_write logs a page and appends it to the file; is_standard if what
 * lies between its lower and upper end is free.
 */
void
smgr_bulk_write(BulkWriteState *state, BlockNumber block,
				BulkWriteBuffer buffer, bool is_standard)
{
	SMgrRelation smgr = RelationGetSmgr(state->rel);
	Page		page = (Page) buffer;

	if (RelationNeedsWAL(state->rel))
#if PG_VERSION_NUM >= 160000
		(void) log_newpage(&state->rel->rd_locator, state->fork, block, page,
						   is_standard);
#else
		(void) log_newpage(&state->rel->rd_node, state->fork, block, page,
						   is_standard);
#endif
	PageSetChecksumInplace(page, block);
	smgrextend(smgr, state->fork, block, buffer->data, false);
}

/*
 * smgr_bulk_finish ends the writing.  The next checkpoint writes all pages of the file.
 * But a checkpoint that has begun meanwhile may have missed pages that were logged before
 * it and written after it: then the file is synchronized here.
 */
void
smgr_bulk_finish(BulkWriteState *state)
{
	if (GetRedoRecPtr() != state->redo)
		smgrimmedsync(RelationGetSmgr(state->rel), state->fork);
	pfree(state->buffer);
	pfree(state);
}
#endif

/*
 * keep_file_open lets a relation's file stay open when the transaction ends, in
 * place of that of *kept, which has to stay where it is; NULL: none.
 */
void
keep_file_open(SMgrRelation *kept, SMgrRelation smgr)
{
	if (*kept == smgr)
		return;
#if PG_VERSION_NUM >= 170000
	if (*kept != NULL)
		smgrunpin(*kept);
	if (smgr != NULL)
		smgrpin(smgr);
	*kept = smgr;
#else
	if (*kept != NULL)
		smgrclearowner(kept, *kept);
	/* closing it or changing its owner sets *kept to NULL */
	if (smgr != NULL && smgr->smgr_owner == NULL)
		smgrsetowner(kept, smgr);
#endif
}

/*
 * open_file returns the file of a table that is neither temporary nor one whose file only
 * the relation mapper knows; NULL of others.
 */
static SMgrRelation
open_file(Form_pg_class form)
{
#if PG_VERSION_NUM >= 160000
	RelFileLocator file;
#else
	RelFileNode file;
#endif
	Oid			tablespace = OidIsValid(form->reltablespace) ?
		form->reltablespace : MyDatabaseTableSpace;

	if (form->relpersistence == RELPERSISTENCE_TEMP ||
		!OidIsValid(form->relfilenode))
		return NULL;
#if PG_VERSION_NUM >= 160000
	file.spcOid = tablespace;
	file.dbOid = MyDatabaseId;
	file.relNumber = form->relfilenode;
#else
	file.spcNode = tablespace;
	file.dbNode = MyDatabaseId;
	file.relNode = form->relfilenode;
#endif
#if PG_VERSION_NUM >= 170000
	return smgropen(file, INVALID_PROC_NUMBER);
#else
	return smgropen(file, InvalidBackendId);
#endif
}

/*
 * count_blocks returns the size of a table without its TOAST table, whose OID it also
 * returns, if toast is not NULL.  It neither opens nor locks the table: if that is gone
 * already, it has none.
 */
BlockNumber
count_blocks(Oid relid, Oid *toast)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	SMgrRelation smgr = NULL;

	if (HeapTupleIsValid(tuple))
	{
		smgr = open_file((Form_pg_class) GETSTRUCT(tuple));
		if (toast != NULL)
			*toast = ((Form_pg_class) GETSTRUCT(tuple))->reltoastrelid;
		ReleaseSysCache(tuple);
	}
	return smgr != NULL && smgrexists(smgr, MAIN_FORKNUM) ?
		smgrnblocks(smgr, MAIN_FORKNUM) : 0;
}

/*
 * is_locked_by_me says whether this session has locked a relation for reading; before
 * version 17 maybe not if it has locked it in another mode.
 */
bool
is_locked_by_me(Oid relid)
{
	LOCKTAG		tag;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
#if PG_VERSION_NUM >= 170000
	return LockHeldByMe(&tag, AccessShareLock, true);
#else
	return LockHeldByMe(&tag, AccessShareLock);
#endif
}

/*
 * lock_if_empty locks a table, until the transaction ends, and says whether it has no
 * rows for any snapshot, without opening it.  To build a relation descriptor would take
 * ten times as long, and there are dozens of future hours.  Its file stays open as kept,
 * unless that is NULL.  If it returns false, the table must be opened, or is gone.
 */
bool
lock_if_empty(Oid relid, LOCKMODE lockmode, SMgrRelation *kept)
{
	HeapTuple	tuple;
	Form_pg_class form;
	SMgrRelation smgr;

	LockRelationOid(relid, lockmode);
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	smgr = form->relkind == RELKIND_RELATION && form->relam == HEAP_TABLE_AM_OID ?
		open_file(form) : NULL;
	ReleaseSysCache(tuple);
	if (smgr == NULL || smgrnblocks(smgr, MAIN_FORKNUM) > 0)
		return false;
	if (kept != NULL)
		keep_file_open(kept, smgr);
	return true;
}
