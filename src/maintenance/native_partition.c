/*-------------------------------------------------------------------------
 *
 * native_partition.c
 *	  Partitions of a natively partitioned table, which are to be ours.
 *
 * A native partition has no row that its bounds do not allow, so a CHECK
 * constraint that says the same is valid without a look at the rows:
 * PostgreSQL itself relies on that in DETACH PARTITION CONCURRENTLY.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "commands/tablecmds.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/parsenodes.h"
#include "parser/parser.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "result_row.h"
#include "tables/bounds.h"
#include "tables/owned_table.h"

PG_FUNCTION_INFO_V1(zbxhist_native_bounds);
PG_FUNCTION_INFO_V1(zbxhist_add_bounds);

/* ---- bounds ---- */

/*
 * RequireRangesOfClock raises an error unless the partitions of a table are
 * ranges of the column clock, an integer, in its usual order.
 */
static void
RequireRangesOfClock(Relation parent)
{
	PartitionKey key = RelationGetPartitionKey(parent);

	if (key == NULL || key->strategy != PARTITION_STRATEGY_RANGE ||
		key->partnatts != 1 ||
		key->partattrs[0] != get_attnum(RelationGetRelid(parent), "clock") ||
		key->parttypid[0] != INT4OID ||
		key->partopfamily[0] != INTEGER_BTREE_FAM_OID)
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("the partitions of table \"%s\" are not ranges of the column \"clock\" alone",
					   RelationGetRelationName(parent)),
				errtable(parent));
}

/*
 * GetBoundSpec returns what a partition was attached for, palloc'd; NULL if
 * the relation is none.
 */
static PartitionBoundSpec *
GetBoundSpec(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	PartitionBoundSpec *result = NULL;
	Datum		datum;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	datum = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relpartbound, &isnull);
	if (!isnull)
		result = castNode(PartitionBoundSpec,
						  stringToNode(TextDatumGetCString(datum)));
	ReleaseSysCache(tuple);
	return result;
}

/*
 * ReadDatum returns the clock that one end of a partition stands for, or the
 * given one if it is open.
 */
static int64
ReadDatum(List *datums, int64 open)
{
	PartitionRangeDatum *datum = linitial_node(PartitionRangeDatum, datums);

	if (datum->kind != PARTITION_RANGE_DATUM_VALUE)
		return open;
	return DatumGetInt32(castNode(Const, datum->value)->constvalue);
}

/*
 * ReadNativeBounds reads the clocks of a native partition; returns false if
 * it is the default one.  The partition need not be locked.
 */
static bool
ReadNativeBounds(Oid relid, ClockRange *range)
{
	PartitionBoundSpec *spec = GetBoundSpec(relid);
	const char *name = get_rel_name(relid);
	Relation	parent;

	if (spec == NULL)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a partition of a partitioned table",
					   name != NULL ? name : "?"));
	parent = table_open(get_partition_parent(relid, true), AccessShareLock);
	RequireRangesOfClock(parent);
	table_close(parent, AccessShareLock);
	if (spec->is_default)
		return false;
	range->from_clock = ReadDatum(spec->lowerdatums, ZBXHIST_CLOCK_MIN);
	range->to_clock = ReadDatum(spec->upperdatums, ZBXHIST_CLOCK_END);
	return true;
}

/*
 * zbxhist_native_bounds(partition) returns the clocks of a native partition;
 * NULLs for a default one.
 */
Datum
zbxhist_native_bounds(PG_FUNCTION_ARGS)
{
	ClockRange	range;
	Datum		values[2] = {0};
	bool		nulls[2] = {true, true};

	if (ReadNativeBounds(PG_GETARG_OID(0), &range))
	{
		values[0] = Int64GetDatum(range.from_clock);
		values[1] = Int64GetDatum(range.to_clock);
		nulls[0] = nulls[1] = false;
	}
	return result_row(fcinfo, values, nulls);
}

/* ---- the constraint ---- */

/*
 * MakeConstraint returns ALTER TABLE ... ADD CONSTRAINT zbxhist_clock, not to
 * be validated.  The table it names is never looked up.
 */
static AlterTableStmt *
MakeConstraint(const ClockRange *range)
{
	StringInfoData sql;
	AlterTableStmt *stmt;
	AlterTableCmd *cmd;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "ALTER TABLE x ADD CONSTRAINT "
						   ZBXHIST_BOUNDS_CONSTRAINT " CHECK (");
	if (range->from_clock > ZBXHIST_CLOCK_MIN || range->to_clock == ZBXHIST_CLOCK_END)
		appendStringInfo(&sql, "clock OPERATOR(pg_catalog.>=) (" INT64_FORMAT ")%s",
						 range->from_clock,
						 range->to_clock < ZBXHIST_CLOCK_END ? " AND " : "");
	if (range->to_clock < ZBXHIST_CLOCK_END)
		appendStringInfo(&sql, "clock OPERATOR(pg_catalog.<) (" INT64_FORMAT ")",
						 range->to_clock);
	appendStringInfoChar(&sql, ')');
	stmt = castNode(AlterTableStmt,
					linitial_node(RawStmt, raw_parser(sql.data, RAW_PARSE_DEFAULT))->stmt);
	cmd = linitial_node(AlterTableCmd, stmt->cmds);
	castNode(Constraint, cmd->def)->skip_validation = true;
	return stmt;
}

/*
 * zbxhist_add_bounds(partition) gives a native partition that is no default
 * one the constraint zbxhist_clock, valid at once.  The caller has the lock on
 * the partition, ACCESS EXCLUSIVE, and a search_path of pg_catalog first.
 */
Datum
zbxhist_add_bounds(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	Relation	partition = ZbxhistOpenOwnedTable(relid, AccessExclusiveLock);
	AlterTableUtilityContext context = {.queryString = ""};
	ClockRange	range;
	AlterTableStmt *stmt;

	if (!ReadNativeBounds(relid, &range))
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is a default partition",
					   RelationGetRelationName(partition)),
				errtable(partition));
	table_close(partition, NoLock);
	stmt = MakeConstraint(&range);
	context.relid = relid;
	EventTriggerAlterTableStart((Node *) stmt);
	EventTriggerAlterTableRelid(relid);
	AlterTable(stmt, AccessExclusiveLock, &context);
	EventTriggerAlterTableEnd();
	CommandCounterIncrement();
	PG_RETURN_VOID();
}
