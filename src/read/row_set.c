/*-------------------------------------------------------------------------
 *
 * row_set.c
 *	  Gives rows of items out as the result of an SQL function.
 *
 * A function in FROM is materialised by the executor in any case, so there
 * the rows go straight to its tuplestore; elsewhere (in the select list, also
 * of a cursor) they are read one by one as they are asked for, and what is
 * not asked for is not read.
 *
 * Locks: ACCESS SHARE on the parent and on each partition that is read, until
 * the transaction ends.  Between two calls the state is in the context of the
 * call site, which closes it by a callback when it is done with it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "storage/lockdefs.h"
#include "utils/acl.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "read/parent.h"
#include "read/row_set.h"

/*
 * ZbxhistOpenRowSet opens the parent relid, which the user must be allowed to
 * read, for up to max_rows rows of each range.  ranges must stay.
 */
void
ZbxhistOpenRowSet(RowSet *set, Oid relid, const ItemRange *ranges, int nranges,
				  uint64 max_rows)
{
	set->parent = ZbxhistOpenParent(relid, AccessShareLock, ACL_SELECT);
	set->snapshot = RegisterSnapshot(GetActiveSnapshot());
	set->reader = ZbxhistOpenReader(set->parent, set->snapshot,
									nranges > 1);
	set->ranges = ranges;
	set->nranges = max_rows > 0 ? nranges : 0;
	set->next_range = 0;
	set->max_rows = max_rows;
	set->rows_left = 0;
}

/*
 * ZbxhistNextRange begins with the next range, which ZbxhistNextRow does when
 * it has to; returns false if there is none.
 */
bool
ZbxhistNextRange(RowSet *set)
{
	CHECK_FOR_INTERRUPTS();
	if (set->next_range == set->nranges)
		return false;
	ZbxhistReadItem(set->reader, &set->ranges[set->next_range++]);
	set->rows_left = set->max_rows;
	return true;
}

/*
 * ZbxhistNextRow goes to the next row; returns false if there is none.
 */
bool
ZbxhistNextRow(RowSet *set)
{
	for (;;)
	{
		if (set->rows_left > 0 && ZbxhistReadNext(set->reader))
		{
			set->rows_left--;
			return true;
		}
		set->rows_left = 0;
		if (!ZbxhistNextRange(set))
			return false;
	}
}

/*
 * ZbxhistCloseRowSet closes everything; locks stay.
 */
void
ZbxhistCloseRowSet(RowSet *set)
{
	ZbxhistCloseReader(set->reader);
	UnregisterSnapshot(set->snapshot);
	table_close(set->parent, NoLock);
}

/*
 * CloseCallback is called by the call site when it will not call again.
 */
static void
CloseCallback(Datum arg)
{
	ZbxhistCloseRowSet((RowSet *) DatumGetPointer(arg));
}

/*
 * ReturnAll puts all rows into the executor's tuplestore.
 */
static Datum
ReturnAll(FunctionCallInfo fcinfo, const ItemRange *ranges, int nranges,
		  uint64 max_rows)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			parent = ZbxhistRowTypeParent(fcinfo);
	RowSet		set;

	InitMaterializedSRF(fcinfo, 0);
	ZbxhistOpenRowSet(&set, parent, ranges, nranges, max_rows);
	while (ZbxhistNextRow(&set))
		tuplestore_puttupleslot(rsinfo->setResult,
								ZbxhistReadSlot(set.reader));
	ZbxhistCloseRowSet(&set);
	return (Datum) 0;
}

/*
 * BeginReturning opens the rows in the first call of a call site.
 */
static void
BeginReturning(FunctionCallInfo fcinfo, const ItemRange *ranges, int nranges,
			   uint64 max_rows)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	FuncCallContext *funcctx = SRF_FIRSTCALL_INIT();
	MemoryContext old =
		MemoryContextSwitchTo(funcctx->multi_call_memory_ctx);
	RowSet	   *set = palloc0(sizeof(RowSet));
	ItemRange  *copy = palloc(sizeof(ItemRange) * Max(nranges, 1));

	memcpy(copy, ranges, sizeof(ItemRange) * nranges);
	ZbxhistOpenRowSet(set, ZbxhistRowTypeParent(fcinfo), copy, nranges,
					  max_rows);
	funcctx->user_fctx = set;
	RegisterExprContextCallback(rsinfo->econtext, CloseCallback,
								PointerGetDatum(set));
	MemoryContextSwitchTo(old);
}

/*
 * ReturnNext gives out one row, or ends.
 */
static Datum
ReturnNext(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	FuncCallContext *funcctx = SRF_PERCALL_SETUP();
	RowSet	   *set = funcctx->user_fctx;

	if (ZbxhistNextRow(set))
		SRF_RETURN_NEXT(funcctx, ZbxhistReadDatum(set->reader));

	UnregisterExprContextCallback(rsinfo->econtext, CloseCallback,
								  PointerGetDatum(set));
	ZbxhistCloseRowSet(set);
	SRF_RETURN_DONE(funcctx);
}

/*
 * ZbxhistCheckSetContext raises an error where a set cannot be taken.
 */
void
ZbxhistCheckSetContext(FunctionCallInfo fcinfo)
{
	if (fcinfo->resultinfo == NULL || !IsA(fcinfo->resultinfo, ReturnSetInfo))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("set-valued function called in context that cannot accept a set"));
}

/*
 * ZbxhistReturnRows returns up to max_rows rows of each range, of the parent
 * whose row type is the first argument, in the way that suits the caller.  In
 * the later calls of a call site (not SRF_IS_FIRSTCALL) ranges are not used.
 */
Datum
ZbxhistReturnRows(FunctionCallInfo fcinfo, const ItemRange *ranges,
				  int nranges, uint64 max_rows)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	if (rsinfo->allowedModes & SFRM_Materialize_Preferred)
		return ReturnAll(fcinfo, ranges, nranges, max_rows);
	if (SRF_IS_FIRSTCALL())
		BeginReturning(fcinfo, ranges, nranges, max_rows);
	return ReturnNext(fcinfo);
}
