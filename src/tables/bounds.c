/*-------------------------------------------------------------------------
 *
 * bounds.c
 *	  Reads partitions' ranges of clocks from their CHECK constraints.
 *
 * A partition is an inheritance child with a constraint
 *
 *		CONSTRAINT zbxhist_clock CHECK (clock >= X AND clock < Y)
 *
 * The planner excludes partitions by the same constraint, so writers and readers cannot
 * disagree.  There is no other catalog of partitions that could be stale, wrongly
 * restored, or forgotten when somebody drops a table.  At the ends of int4 one of the two
 * conditions is missing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "tables/bounds.h"

/*
 * ReadBound takes one half, "clock >= const" or "clock < const", into
 * bounds; returns false if expr is anything else.
 */
static bool
ReadBound(Node *expr, AttrNumber clock_attnum, PartitionBounds *bounds)
{
	OpExpr	   *op = (OpExpr *) expr;
	Var		   *var;
	Const	   *value;
	RegProcedure proc;

	if (!IsA(expr, OpExpr) || list_length(op->args) != 2 ||
		!IsA(linitial(op->args), Var) || !IsA(lsecond(op->args), Const))
		return false;

	var = (Var *) linitial(op->args);
	value = (Const *) lsecond(op->args);
	if (var->varattno != clock_attnum || value->consttype != INT4OID ||
		value->constisnull)
		return false;

	proc = get_opcode(op->opno);
	if (proc == F_INT4GE)
		bounds->from_clock = DatumGetInt32(value->constvalue);
	else if (proc == F_INT4LT)
		bounds->to_clock = DatumGetInt32(value->constvalue);
	else
		return false;
	return true;
}

/*
 * ZbxhistHasOnlyBounds says whether a partition with the columns desc has no CHECK
 * constraint but its bounds.
 */
bool
ZbxhistHasOnlyBounds(TupleDesc desc)
{
	return desc->constr != NULL && desc->constr->num_check == 1 &&
		strcmp(desc->constr->check[0].ccname, ZBXHIST_BOUNDS_CONSTRAINT) == 0;
}

/* ---- the catalogs ---- */

/* a constant's value in an expression's text, as outfuncs.c writes an int4 */
#define CONSTANT_VALUE ":constvalue 4 ["

/* reads bounds of several tables by one scan of each catalog */
typedef struct BoundsReader
{
	SysScanDesc constraints;	/* of pg_constraint */
	SysScanDesc columns;		/* of pg_attribute */
	char	   *text;			/* the expression read last, */
	Node	   *expr;			/* what it says, */
	List	   *constants;		/* and its Consts, in their order */
} BoundsReader;

/*
 * FindInCatalog restarts a scan of a catalog with other values of the same keys, and
 * returns the first row, or NULL.
 */
static HeapTuple
FindInCatalog(SysScanDesc scan, ScanKey key, int nkeys)
{
	if (scan->irel == NULL)
		table_rescan(scan->scan, key);
	else
	{
		for (int i = 0; i < nkeys; i++)
			key[i].sk_attno = i + 1;
		index_rescan(scan->iscan, key, nkeys, NULL, 0);
	}
	return systable_getnext(scan);
}

/*
 * BeginCatalogScan begins a scan of a catalog, by an index on exactly these
 * keys.
 */
static SysScanDesc
BeginCatalogScan(Oid catalog, Oid index, ScanKey key, int nkeys)
{
	return systable_beginscan(table_open(catalog, AccessShareLock), index,
							  true, NULL, nkeys, key);
}

/*
 * EndCatalogScan ends it.
 */
static void
EndCatalogScan(SysScanDesc scan)
{
	Relation	catalog = scan->heap_rel;

	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/*
 * SetConstraintKeys sets the keys of a table's bounds constraint.
 */
static void
SetConstraintKeys(ScanKey key, Oid relid)
{
	ScanKeyInit(&key[0], Anum_pg_constraint_conrelid,
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	ScanKeyInit(&key[1], Anum_pg_constraint_contypid,
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(InvalidOid));
	ScanKeyInit(&key[2], Anum_pg_constraint_conname,
				BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum(ZBXHIST_BOUNDS_CONSTRAINT));
}

/*
 * SetColumnKeys sets the keys of a table's column "clock".
 */
static void
SetColumnKeys(ScanKey key, Oid relid)
{
	ScanKeyInit(&key[0], Anum_pg_attribute_attrelid,
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	ScanKeyInit(&key[1], Anum_pg_attribute_attname,
				BTEqualStrategyNumber, F_NAMEEQ, CStringGetDatum("clock"));
}

/* ---- expressions ---- */

/*
 * collect_constants is a walker that lists the constants of an expression in
 * the order of its text.
 */
static bool
collect_constants(Node *node, void *constants)
{
	List	  **list = constants;

	if (node != NULL && IsA(node, Const))
		*list = lappend(*list, node);
	return expression_tree_walker(node, collect_constants, constants);
}

/*
 * TakeConstants reuses the expression that was read last, if the texts of both differ
 * only in the values of constants, as is usual for partitions.  That takes a tenth of the
 * time of reading the expression.
 */
static bool
TakeConstants(BoundsReader *reader, const char *text)
{
	const char *known = reader->text;
	ListCell   *lc;

	foreach(lc, reader->constants)
	{
		const char *value = strstr(known, CONSTANT_VALUE);
		Size		length;
		char	   *end;
		uint8		bytes[sizeof(Datum)];

		if (value == NULL)
			return false;
		value += strlen(CONSTANT_VALUE);
		length = value - known;
		if (strncmp(known, text, length) != 0)
			return false;
		end = unconstify(char *, text) + length;
		for (int i = 0; i < sizeof(Datum); i++)
			bytes[i] = (uint8) strtol(end, &end, 10);
		memcpy(&((Const *) lfirst(lc))->constvalue, bytes, sizeof(Datum));
		text = end;
		known = strchr(value, ']');
		/* the two differ between there and the end */
		if (strncmp(text, " ]", 2) != 0)
			return false;
		text++;
	}
	return known != NULL && strcmp(known, text) == 0;
}

/* ---- bounds ---- */

/*
 * BeginBounds makes a reader of bounds, in the current context.
 */
static BoundsReader *
BeginBounds(void)
{
	BoundsReader *reader = palloc0(sizeof(BoundsReader));
	ScanKeyData key[3];

	SetConstraintKeys(key, InvalidOid);
	reader->constraints = BeginCatalogScan(ConstraintRelationId,
										   ConstraintRelidTypidNameIndexId,
										   key, 3);
	SetColumnKeys(key, InvalidOid);
	reader->columns = BeginCatalogScan(AttributeRelationId,
									   AttributeRelidNameIndexId, key, 2);
	return reader;
}

/*
 * NextBounds fills bounds for the table relid; returns false if it
 * has no valid bounds constraint of our shape.  Needs no lock on relid: a
 * table dropped meanwhile simply has no constraint.
 */
static bool
NextBounds(BoundsReader *reader, Oid relid, PartitionBounds *bounds)
{
	ScanKeyData key[3];
	HeapTuple	tuple;
	Datum		conbin;
	bool		isnull;
	AttrNumber	clock_attnum;
	char	   *string;
	ListCell   *lc;

	memset(bounds, 0, sizeof(*bounds));
	bounds->relid = relid;
	bounds->from_clock = ZBXHIST_CLOCK_MIN;
	bounds->to_clock = ZBXHIST_CLOCK_END;

	SetConstraintKeys(key, relid);
	tuple = FindInCatalog(reader->constraints, key, 3);
	if (!HeapTupleIsValid(tuple) ||
		((Form_pg_constraint) GETSTRUCT(tuple))->contype != CONSTRAINT_CHECK ||
		!((Form_pg_constraint) GETSTRUCT(tuple))->convalidated)
		return false;
	conbin = heap_getattr(tuple, Anum_pg_constraint_conbin,
						  RelationGetDescr(reader->constraints->heap_rel),
						  &isnull);
	if (isnull)
		return false;
	string = TextDatumGetCString(conbin);
	SetColumnKeys(key, relid);
	tuple = FindInCatalog(reader->columns, key, 2);
	if (!HeapTupleIsValid(tuple))
		return false;
	clock_attnum = ((Form_pg_attribute) GETSTRUCT(tuple))->attnum;

	if (reader->text != NULL && TakeConstants(reader, string))
		pfree(string);
	else
	{
		reader->text = string;
		reader->expr = stringToNode(string);
		reader->constants = NIL;
		(void) collect_constants(reader->expr, &reader->constants);
	}
	if (!is_andclause(reader->expr))
		return ReadBound(reader->expr, clock_attnum, bounds) &&
			bounds->from_clock < bounds->to_clock;
	foreach(lc, ((BoolExpr *) reader->expr)->args)
	{
		if (!ReadBound((Node *) lfirst(lc), clock_attnum, bounds))
			return false;
	}
	return bounds->from_clock < bounds->to_clock;
}

/*
 * EndBounds closes what a reader of bounds has open.
 */
static void
EndBounds(BoundsReader *reader)
{
	EndCatalogScan(reader->columns);
	EndCatalogScan(reader->constraints);
	pfree(reader);
}

/*
 * ZbxhistReadBounds fills bounds for one table, as NextBounds does.
 */
bool
ZbxhistReadBounds(Oid relid, PartitionBounds *bounds)
{
	BoundsReader *reader = BeginBounds();
	bool		result = NextBounds(reader, relid, bounds);

	EndBounds(reader);
	return result;
}

/*
 * compare_bounds orders partitions by the beginning of their range.
 */
static int
compare_bounds(const void *a, const void *b)
{
	const PartitionBounds *left = a;
	const PartitionBounds *right = b;

	if (left->from_clock != right->from_clock)
		return left->from_clock < right->from_clock ? -1 : 1;
	return left->relid < right->relid ? -1 : left->relid > right->relid;
}

/*
 * IsPlainTable says whether a child exists and is an ordinary table that is not
 * temporary.
 */
static bool
IsPlainTable(Oid relid)
{
	return get_rel_relkind(relid) == RELKIND_RELATION &&
		get_rel_persistence(relid) != RELPERSISTENCE_TEMP;
}

/*
 * ZbxhistReadPartitions returns the partitions of parent as the catalogs say
 * now, sorted by clock, in an array palloc'd in the current context.
 */
PartitionBounds *
ZbxhistReadPartitions(Oid parent, int *npartitions)
{
	List	   *children = find_inheritance_children(parent, NoLock);
	PartitionBounds *partitions =
		palloc(sizeof(PartitionBounds) * Max(list_length(children), 1));
	BoundsReader *reader = BeginBounds();
	ListCell   *lc;
	int			n = 0;

	foreach(lc, children)
	{
		Oid			relid = lfirst_oid(lc);

		if (IsPlainTable(relid) && NextBounds(reader, relid, &partitions[n]))
			n++;
	}
	EndBounds(reader);
	qsort(partitions, n, sizeof(PartitionBounds), compare_bounds);
	*npartitions = n;
	return partitions;
}
