/*-------------------------------------------------------------------------
 *
 * row_map.c
 *	  How the rows of a packed day become rows of the table that has it.
 *
 * A day keeps the columns that the table had when it was packed.  Later changes by ALTER
 * TABLE are applied to each row when it is read.  Columns are matched by name; an option
 * of the foreign table's column (packed_days.c) tells which were renamed, or dropped and
 * added again.  If the type of a column has changed, its values are converted as by
 * assignment.  A column that was added later has, in older rows, the value that ADD
 * COLUMN gave them, or is null.  A foreign table that was made by hand has no such
 * options: there a column that the day lacks may have been renamed, so it is an error.
 *
 * Casts and types that do not come with PostgreSQL may be code of users whom the table's
 * owner trusts, but the reader need not.  So it is run as the owner (owner_rights.c).
 *
 * Memory: a map is in the context that is current when it is made; values
 * passed by reference are palloc'd in that of the call.
 *
 * The value of a column that was added later is the option "missing" of the foreign
 * table's column, or that in the parent's catalog entry (attmissingval).  If there is
 * neither, the value is null.  But if the column has a default, that is an error: the
 * catalog may have lost the value when the table was rewritten.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "format/row_map.h"
#include "tables/columns.h"
#include "tables/owned_table.h"
#include "tables/owner_rights.h"
#include "tables/packed_days.h"
#include "tables/packed_table.h"
#include "tables/partition_set.h"

/* a column of the table that is wanted */
typedef struct MappedColumn
{
	int			attribute;		/* column of the table, from 0 */
	const LayoutColumn *column; /* NULL: the value is the same in all rows */
	const PackedColumn *packed; /* of the segment; NULL: itemid or such a
								 * value */
	const int64 *words;			/* its values, if they are there as they are
								 * wanted */
	ExprState  *cast;			/* NULL: same type */
	bool		is_owners;		/* the cast is code of the owner */
	Datum		value;			/* if there is no packed column */
	bool		isnull;
} MappedColumn;

struct RowMap
{
	int			ncolumns;
	MappedColumn *columns;
	ExprContext *econtext;		/* for casts; NULL: there are none */
	Oid			owner;			/* of the table */
};

/* ---- columns that the day has ---- */

/*
 * GetSet returns the partition set of the parent, or NULL for a foreign table that was
 * made by hand, whose columns must be those of the days.
 */
static const PartitionSet *
GetSet(Relation table)
{
	PartitionSet *set;
	Relation	parent;

	if (table->rd_rel->relkind != RELKIND_FOREIGN_TABLE)
		return ZbxhistGetPartitions(table);
	set = ZbxhistFindPartitions(RelationGetRelid(table));
	if (set == NULL)
	{
		parent = table_open(ZbxhistForeignParent(table), AccessShareLock);
		set = ZbxhistGetPartitions(parent);
		table_close(parent, NoLock);
	}
	return set->packed == RelationGetRelid(table) ? set : NULL;
}

/*
 * ZbxhistRenameColumns gives the layout's columns their present names in the table;
 * renamed is a list of RenamedColumn.  If the day has another column of such a name, that
 * one was dropped and loses its name.
 */
void
ZbxhistRenameColumns(DayLayout *layout, const List *renamed)
{
	for (int i = 0; i < layout->ncolumns; i++)
	{
		NameData   *name = &layout->columns[i].name;
		const char *now = NULL;
		ListCell   *lc;

		foreach(lc, renamed)
		{
			const RenamedColumn *column = lfirst(lc);

			if (strcmp(NameStr(column->packed), NameStr(*name)) == 0)
			{
				now = NameStr(column->name);
				break;
			}
			/* names may have been swapped, so search on */
			if (strcmp(NameStr(column->name), NameStr(*name)) == 0)
				now = "";
		}
		if (now != NULL)
			namestrcpy(name, now);
	}
}

/*
 * ZbxhistMarkReplaced marks those of the layout's columns that were dropped,
 * and others of their names added, since days were packed last, and renames
 * those that were renamed.  The table is the parent or the foreign table.
 */
void
ZbxhistMarkReplaced(DayLayout *layout, Relation table)
{
	const PartitionSet *set = GetSet(table);

	if (set == NULL)
		return;
	ZbxhistRenameColumns(layout, set->renamed);
	for (int i = 0; i < layout->ncolumns; i++)
	{
		if (!is_new_column(set->new_columns, NameStr(layout->columns[i].name)))
			continue;
		layout->columns[i].is_replaced = true;
		if (i == layout->ns)
			layout->ns = -1;
		if (i == layout->value)
			layout->value = -1;
	}
}

/*
 * AreColumnsAlike says whether a day's columns are the table's, in their order.
 */
static bool
AreColumnsAlike(TupleDesc day, TupleDesc table)
{
	if (day->natts - DAY_NUM_ATTRIBUTES != table->natts)
		return false;
	for (int i = 0; i < table->natts; i++)
	{
		Form_pg_attribute packed = TupleDescAttr(day, i + DAY_NUM_ATTRIBUTES);
		Form_pg_attribute att = TupleDescAttr(table, i);

		if (packed->attisdropped || att->attisdropped ||
			packed->atttypid != att->atttypid ||
			strcmp(NameStr(packed->attname), NameStr(att->attname)) != 0)
			return false;
	}
	return true;
}

/*
 * ZbxhistHasColumnsOf says whether a day has the columns that the packed table has
 * now.  Allocates in the current context.
 */
bool
ZbxhistHasColumnsOf(Relation day, Relation table)
{
	const PartitionSet *set = GetSet(table);
	DayLayout  *layout;

	/* as nearly all do, without a layout */
	if ((set == NULL || (set->renamed == NIL && set->new_columns == NIL)) &&
		AreColumnsAlike(RelationGetDescr(day), RelationGetDescr(table)))
		return true;
	layout = ZbxhistDayLayout(day);
	ZbxhistMarkReplaced(layout, table);
	return ZbxhistFindLayout(layout, RelationGetDescr(table),
							 palloc(sizeof(AttrNumber) * layout->ncolumns));
}

/*
 * FindLayoutColumn returns the day's column that is the table's column att, or
 * NULL.
 */
static const LayoutColumn *
FindLayoutColumn(const DayLayout *layout, Form_pg_attribute att)
{
	for (int i = 0; i < layout->ncolumns; i++)
	{
		const LayoutColumn *column = &layout->columns[i];

		if (strcmp(NameStr(column->name), NameStr(att->attname)) == 0)
			return column->is_replaced ? NULL : column;
	}
	return NULL;
}

/*
 * PrepareCast prepares a cast; returns NULL if it does not change values.  Planning the
 * cast may already run parts of it.
 */
static ExprState *
PrepareCast(Node *cast)
{
	cast = (Node *) expression_planner((Expr *) cast);
	if (IsA(cast, CaseTestExpr) ||
		(IsA(cast, RelabelType) &&
		 IsA(((RelabelType *) cast)->arg, CaseTestExpr)))
		return NULL;
	return ExecInitExpr((Expr *) cast, NULL);
}

/*
 * MakeColumnCast prepares the conversion of the day's column to the table's
 * type, if there is anything to do.
 */
static void
MakeColumnCast(RowMap *map, Relation day, Form_pg_attribute att,
			   MappedColumn *mapped)
{
	const LayoutColumn *column = mapped->column;
	CaseTestExpr *input;
	Node	   *cast;
	OwnerRights before;

	if (column->type == att->atttypid &&
		(att->atttypmod < 0 || att->atttypmod == column->typmod))
		return;
	input = makeNode(CaseTestExpr);
	input->typeId = column->type;
	input->typeMod = column->typmod;
	input->collation = get_typcollation(column->type);
	cast = coerce_to_target_type(NULL, (Node *) input, column->type,
								 att->atttypid, att->atttypmod,
								 COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST,
								 -1);
	if (cast == NULL)
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("column \"%s\" cannot be read from packed day \"%s\"",
					   NameStr(att->attname), RelationGetRelationName(day)),
				errdetail("It was packed as %s, and there is no cast from that to %s.",
						  format_type_be(column->type),
						  format_type_be(att->atttypid)),
				errhint("Unpack the day with zbxhist.unpack() before the column gets another type."),
				errtable(day));
	mapped->is_owners = !ZbxhistIsBuiltInExpr(cast);
	if (mapped->is_owners)
		ZbxhistTakeOwnerRights(&before, map->owner);
	mapped->cast = PrepareCast(cast);
	if (mapped->is_owners)
		ZbxhistGiveBackRights(&before);
	if (mapped->cast != NULL && map->econtext == NULL)
		map->econtext = CreateStandaloneExprContext();
}

/* ---- columns that the day lacks ---- */

/*
 * GetOption sets value to that of the column option "missing" of the foreign
 * table's column attnum, of att's type; returns false if there is none.
 */
static bool
GetOption(Oid foreign, AttrNumber attnum, Oid owner, Form_pg_attribute att,
		  Datum *value)
{
	char	   *text;
	Oid			input;
	Oid			param;
	bool		is_built_in = ZbxhistIsBuiltInType(att->atttypid);
	OwnerRights before;

	if (attnum == InvalidAttrNumber ||
		(text = ZbxhistColumnOption(foreign, attnum, FDW_OPTION_MISSING)) == NULL)
		return false;
	getTypeInputInfo(att->atttypid, &input, &param);
	/* of a domain, that checks its constraints */
	if (!is_built_in)
		ZbxhistTakeOwnerRights(&before, owner);
	*value = OidInputFunctionCall(input, text, param, att->atttypmod);
	if (!is_built_in)
		ZbxhistGiveBackRights(&before);
	return true;
}

/*
 * GetStored sets value to the one that the catalog has for the parent's rows from before
 * the column was added, in the current context; returns false if there is none.
 */
static bool
GetStored(Oid relid, Form_pg_attribute att, Datum *value)
{
	Relation	parent = table_open(relid, AccessShareLock);
	AttrNumber	attnum = ZbxhistFindColumn(RelationGetDescr(parent),
										   NameStr(att->attname),
										   att->atttypid);
	bool		isnull = true;

	if (attnum != InvalidAttrNumber)
		*value = getmissingattr(RelationGetDescr(parent), attnum, &isnull);
	if (!isnull)
		*value = datumCopy(*value, att->attbyval, att->attlen);
	table_close(parent, NoLock);
	return !isnull;
}

/*
 * HasDefault says whether the foreign table's column has a default.
 */
static bool
HasDefault(Oid foreign, AttrNumber attnum)
{
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(foreign),
										Int16GetDatum(attnum));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = ((Form_pg_attribute) GETSTRUCT(tuple))->atthasdef;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * RaiseNotKnown raises the error for a column that the day lacks and whose value is not
 * known.  Unless is_known, the day may have the column under another name.
 */
static void
RaiseNotKnown(Relation day, Oid foreign, Form_pg_attribute att, bool is_known)
{
	const char *column = quote_identifier(NameStr(att->attname));
	const char *name = ZbxhistQualifiedName(foreign);

	ereport(ERROR,
			errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("column \"%s\" cannot be read from packed day \"%s\"",
				   NameStr(att->attname), RelationGetRelationName(day)),
			is_known ?
			errdetail("The column was added later, and its value in older rows is not known.") :
			errdetail("The day does not have it, or has it under another name."),
			!is_known ?
			errhint("Rename it to its name in %s, or specify its value with ALTER FOREIGN TABLE %s ALTER COLUMN %s OPTIONS (ADD missing '...').",
					ZbxhistQualifiedName(RelationGetRelid(day)),
					name, column) :
			att->attnotnull ?
			errhint("Specify its value with ALTER FOREIGN TABLE %s ALTER COLUMN %s OPTIONS (ADD missing '...').",
					name, column) :
			errhint("Specify its value with ALTER FOREIGN TABLE %s ALTER COLUMN %s OPTIONS (ADD missing '...'), or DROP DEFAULT if it is null.",
					name, column),
			errtable(day));
}

/*
 * MapMissing finds the value that a column which the day lacks has in its rows.  The day
 * cannot have the column under another name if no day has been packed with it, or if its
 * name in days is noted.
 */
static void
MapMissing(Relation day, Relation table, Form_pg_attribute att,
		   MappedColumn *mapped)
{
	const PartitionSet *set = GetSet(table);
	Oid			parent = set == NULL ? ZbxhistForeignParent(table) :
		set->parent;
	Oid			foreign = set == NULL ? RelationGetRelid(table) : set->packed;
	AttrNumber	attnum = get_attnum(foreign, NameStr(att->attname));
	bool		is_known = set != NULL &&
		(is_new_column(set->new_columns, NameStr(att->attname)) ||
		 (attnum != InvalidAttrNumber &&
		  ZbxhistColumnOption(foreign, attnum, ZBXHIST_PACKED_OPTION) != NULL));

	mapped->isnull =
		!GetOption(foreign, attnum, table->rd_rel->relowner, att,
				   &mapped->value) &&
		!GetStored(parent, att, &mapped->value);
	if (mapped->isnull &&
		(att->attnotnull || !is_known ||
		 (attnum == InvalidAttrNumber ? att->atthasdef :
		  HasDefault(foreign, attnum))))
		RaiseNotKnown(day, foreign, att, is_known);
}

/* ---- the map ---- */

/*
 * MapColumn fills in mapped for the table's column att.
 */
static void
MapColumn(RowMap *map, Relation day, const DayLayout *layout, Relation table,
		  Form_pg_attribute att)
{
	MappedColumn *mapped = &map->columns[map->ncolumns++];

	mapped->attribute = att->attnum - 1;
	mapped->column = FindLayoutColumn(layout, att);
	if (mapped->column == NULL)
	{
		MapMissing(day, table, att, mapped);
		return;
	}
	MakeColumnCast(map, day, att, mapped);
}

/*
 * ZbxhistCreateRowMap makes a map from a day to a table: the foreign table or
 * the parent itself.  wanted says which of the table's columns are asked for;
 * NULL: all.  The layout must stay.
 */
RowMap *
ZbxhistCreateRowMap(Relation day, const DayLayout *layout, Relation table,
					const bool *wanted)
{
	TupleDesc	desc = RelationGetDescr(table);
	RowMap	   *map = palloc0(sizeof(RowMap));

	map->owner = table->rd_rel->relowner;
	map->columns = palloc0(sizeof(MappedColumn) * Max(desc->natts, 1));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && (wanted == NULL || wanted[i]))
			MapColumn(map, day, layout, table, att);
	}
	return map;
}

/*
 * ZbxhistAddPackedWanted sets those of the packed columns that the map needs.
 */
void
ZbxhistAddPackedWanted(const RowMap *map, bool *packed)
{
	for (int i = 0; i < map->ncolumns; i++)
	{
		const LayoutColumn *column = map->columns[i].column;

		if (column != NULL && column->packed >= 0)
			packed[column->packed] = true;
	}
}

/*
 * ZbxhistMapSegment prepares for the rows of a decoded segment, whose values have
 * been checked.
 */
void
ZbxhistMapSegment(RowMap *map, const SegmentRows *rows)
{
	for (int i = 0; i < map->ncolumns; i++)
	{
		MappedColumn *mapped = &map->columns[i];

		if (mapped->column == NULL)
			continue;
		if (mapped->column->packed < 0)
		{
			mapped->value = Int64GetDatum(rows->itemid);
			continue;
		}
		mapped->packed = &rows->columns[mapped->column->packed];
		mapped->words = mapped->cast == NULL && mapped->packed->nulls == NULL &&
			packed_ints_are_datums(mapped->column) ? mapped->packed->ints : NULL;
	}
}

/*
 * CastValue converts a value to the table's type, in the current context.
 */
static Datum
CastValue(RowMap *map, const MappedColumn *mapped, Datum value, bool *isnull)
{
	OwnerRights before;
	Datum		result;

	map->econtext->caseValue_datum = value;
	map->econtext->caseValue_isNull = *isnull;
	if (!mapped->is_owners)
		return ExecEvalExpr(mapped->cast, map->econtext, isnull);
	ZbxhistTakeOwnerRights(&before, map->owner);
	result = ExecEvalExpr(mapped->cast, map->econtext, isnull);
	ZbxhistGiveBackRights(&before);
	return result;
}

/*
 * ZbxhistMapRow sets those columns of the table that are wanted to the values
 * of a row of the segment.  The others are left alone.
 */
void
ZbxhistMapRow(RowMap *map, int row, Datum *values, bool *isnull)
{
	const MappedColumn *end = map->columns + map->ncolumns;

	for (const MappedColumn *mapped = map->columns; mapped < end; mapped++)
	{
		Datum	   *value = &values[mapped->attribute];
		bool	   *null = &isnull[mapped->attribute];

		if (mapped->words != NULL)
		{
			*value = (Datum) mapped->words[row];
			*null = false;
			continue;
		}
		*value = mapped->value;
		*null = mapped->isnull;
		if (mapped->packed != NULL)
			*value = ZbxhistPackedDatum(mapped->column, mapped->packed, row, null);
		if (mapped->cast != NULL)
			*value = CastValue(map, mapped, *value, null);
	}
}

/*
 * ZbxhistDirectColumn returns the day's column whose values are those of an attribute of
 * the table (counted from 0) without conversion; NULL if the type differs or the values
 * come from elsewhere.
 */
const LayoutColumn *
ZbxhistDirectColumn(const RowMap *map, int attribute)
{
	for (int i = 0; i < map->ncolumns; i++)
	{
		const MappedColumn *mapped = &map->columns[i];

		if (mapped->attribute == attribute)
			return mapped->cast == NULL ? mapped->column : NULL;
	}
	return NULL;
}
