/*-------------------------------------------------------------------------
 *
 * layout.c
 *	  The columns of a day's table, and values of PostgreSQL as its segments
 *	  hold them.
 *
 * A segment holds each value in one of three forms.  A double is a double.  Any other
 * type passed by value is an integer.  Everything else is bytes: those after a varlena's
 * length word, uncompressed, or all bytes of a type of fixed length.  Numerics are
 * unsigned integers if all of the segment can be, else bytes.
 *
 * Only types whose values can be checked when they are read are packed
 * (value_type.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "compat.h"
#include "format/layout.h"
#include "format/unsigned_numeric.h"
#include "tables/columns.h"

/* the first columns of a day's table */
static const struct
{
	const char *name;
	Oid			type;
}			own_columns[DAY_NUM_ATTRIBUTES] =

{
	{"first_itemid", INT8OID},
	{"first_clock", INT4OID},
	{"last_itemid", INT8OID},
	{"last_clock", INT4OID},
	{"nrows", INT4OID},
	{"payload", BYTEAOID}
};

/* ---- what can be packed ---- */

/*
 * WhyNotColumn says why a column prevents a table from being packed; returns
 * NULL if it does not.
 */
static const char *
WhyNotColumn(Form_pg_attribute att)
{
	const char *name = NameStr(att->attname);
	ValueCheck	check;

	for (int i = 0; i < DAY_NUM_ATTRIBUTES; i++)
	{
		if (strcmp(name, own_columns[i].name) == 0)
			return psprintf("a packed day has a column \"%s\" of its own", name);
	}
	if (att->attgenerated != '\0')
		return psprintf("column \"%s\" is a generated column", name);
	if (!ZbxhistFindValueCheck(&check, att->atttypid, att->atttypmod))
		return psprintf("column \"%s\" has type %s, whose values cannot be packed",
						name, format_type_be(att->atttypid));
	return NULL;
}

/*
 * HasKeyColumn says whether desc has a column of that name and type that is
 * never null.
 */
static bool
HasKeyColumn(TupleDesc desc, const char *name, Oid type)
{
	Form_pg_attribute att = ZbxhistFindAttribute(desc, name);

	return att != NULL && att->atttypid == type && att->attnotnull;
}

/*
 * ZbxhistWhyNotPackable says why rows of that description cannot be packed;
 * returns NULL if they can.
 */
const char *
ZbxhistWhyNotPackable(TupleDesc desc)
{
	int			ncolumns = 0;

	if (!HasKeyColumn(desc, "itemid", INT8OID))
		return "there is no column \"itemid\" of type bigint that is NOT NULL";
	if (!HasKeyColumn(desc, "clock", INT4OID))
		return "there is no column \"clock\" of type integer that is NOT NULL";
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		const char *reason;

		if (att->attisdropped)
			continue;
		if ((reason = WhyNotColumn(att)) != NULL)
			return reason;
		if (++ncolumns > MaxHeapAttributeNumber - DAY_NUM_ATTRIBUTES)
			return "it has too many columns";
	}
	return NULL;
}

/* ---- the layout of a day's table ---- */

/*
 * RequireOwnColumns raises an error unless day is a table that has the columns
 * that tables of days have.
 */
static void
RequireOwnColumns(Relation day)
{
	TupleDesc	desc = RelationGetDescr(day);

	if (day->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a table",
					   RelationGetRelationName(day)),
				errtable(day));
	for (int i = 0; i < DAY_NUM_ATTRIBUTES; i++)
	{
		if (i >= desc->natts ||
			TupleDescAttr(desc, i)->attisdropped ||
			TupleDescAttr(desc, i)->atttypid != own_columns[i].type ||
			strcmp(NameStr(TupleDescAttr(desc, i)->attname),
				   own_columns[i].name) != 0)
			ereport(ERROR,
					errcode(ERRCODE_WRONG_OBJECT_TYPE),
					errmsg("table \"%s\" is not a packed day",
						   RelationGetRelationName(day)),
					errtable(day));
	}
}

/*
 * KindOfType returns how values of a type, which is not a domain, are held in memory and
 * packed.
 */
static PackedKind
KindOfType(Oid base, bool byval)
{
	if (base == FLOAT8OID)
		return PACKED_DOUBLE;
	if (base == NUMERICOID)
		return PACKED_UNSIGNED;
	return byval ? PACKED_INT : PACKED_BYTES;
}

/*
 * AddColumn appends the column att to the layout, whose arrays are large
 * enough.
 */
static void
AddColumn(DayLayout *layout, Form_pg_attribute att)
{
	int			number = layout->ncolumns++;
	LayoutColumn *column = &layout->columns[number];

	column->name = att->attname;
	column->type = att->atttypid;
	column->typmod = att->atttypmod;
	column->typlen = att->attlen;
	column->typbyval = att->attbyval;
	column->packed = -1;
	(void) ZbxhistFindValueCheck(&column->check, column->type, column->typmod);
	column->kind = KindOfType(column->check.type, att->attbyval);

	if (strcmp(NameStr(column->name), "itemid") == 0 && column->type == INT8OID)
		layout->itemid = number;
	else if (strcmp(NameStr(column->name), "clock") == 0 &&
			 column->type == INT4OID)
		layout->clock = number;
	else if (strcmp(NameStr(column->name), "ns") == 0 && column->type == INT4OID)
		layout->ns = number;
	else if (strcmp(NameStr(column->name), "value") == 0 &&
			 (column->kind == PACKED_DOUBLE || column->kind == PACKED_UNSIGNED))
		layout->value = number;
}

/*
 * NumberPacked gives the columns their place in a segment: clock is the
 * first, the others follow in their order.
 */
static void
NumberPacked(DayLayout *layout)
{
	int			next = 1;

	for (int i = 0; i < layout->ncolumns; i++)
	{
		LayoutColumn *column = &layout->columns[i];

		if (i == layout->itemid)
			continue;
		column->packed = i == layout->clock ? 0 : next++;
		layout->packed[column->packed] = column;
	}
	layout->npacked = next;
}

/*
 * ZbxhistDayLayout reads the layout of a day's table from its description.
 * Allocates in the current context.
 */
DayLayout *
ZbxhistDayLayout(Relation day)
{
	TupleDesc	desc = RelationGetDescr(day);
	DayLayout  *layout = palloc0(sizeof(DayLayout));

	RequireOwnColumns(day);
	layout->itemid = layout->clock = layout->ns = layout->value = -1;
	layout->columns = palloc0(sizeof(LayoutColumn) * desc->natts);
	layout->packed = palloc0(sizeof(LayoutColumn *) * desc->natts);
	for (int i = DAY_NUM_ATTRIBUTES; i < desc->natts; i++)
	{
		if (!TupleDescAttr(desc, i)->attisdropped)
			AddColumn(layout, TupleDescAttr(desc, i));
	}
	if (layout->itemid < 0 || layout->clock < 0)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("packed day \"%s\" has no columns \"itemid\" and \"clock\"",
					   RelationGetRelationName(day)),
				errtable(day));
	NumberPacked(layout);
	return layout;
}

/*
 * ZbxhistLayoutSuits says whether a layout is that of the table day, too.
 */
bool
ZbxhistLayoutSuits(const DayLayout *layout, Relation day)
{
	TupleDesc	desc = RelationGetDescr(day);
	int			number = 0;

	RequireOwnColumns(day);
	for (int i = DAY_NUM_ATTRIBUTES; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		const LayoutColumn *column = &layout->columns[number];

		if (att->attisdropped)
			continue;
		if (number++ == layout->ncolumns || column->type != att->atttypid ||
			column->typmod != att->atttypmod ||
			strcmp(NameStr(column->name), NameStr(att->attname)) != 0)
			return false;
	}
	return number == layout->ncolumns;
}

/*
 * ZbxhistFindLayout finds a day's columns in a tuple descriptor and puts their numbers
 * into attributes; returns false if the columns differ.
 */
bool
ZbxhistFindLayout(const DayLayout *layout, TupleDesc desc,
				  AttrNumber *attributes)
{
	int			ncolumns = 0;

	for (int i = 0; i < desc->natts; i++)
		ncolumns += !TupleDescAttr(desc, i)->attisdropped;
	for (int i = 0; i < layout->ncolumns; i++)
	{
		const LayoutColumn *column = &layout->columns[i];

		attributes[i] = column->is_replaced ? InvalidAttrNumber :
			ZbxhistFindColumn(desc, NameStr(column->name), column->type);
		if (attributes[i] == InvalidAttrNumber)
			return false;
	}
	return ncolumns == layout->ncolumns;
}

/*
 * ZbxhistStatsColumn returns the packed column that has statistics, or -1.
 */
int
ZbxhistStatsColumn(const DayLayout *layout)
{
	return layout->value < 0 ? -1 : layout->columns[layout->value].packed;
}

/* ---- values ---- */

/*
 * ZbxhistDatumToInt returns a value that is passed by value as a segment has
 * it.
 */
int64
ZbxhistDatumToInt(const LayoutColumn *column, Datum value)
{
	int			unused = (sizeof(int64) - column->typlen) * BITS_PER_BYTE;

	return (int64) ((uint64) value << unused) >> unused;
}

/*
 * MakeVarlena returns a new varlena with these bytes.
 */
static Datum
MakeVarlena(const char *data, uint32 length)
{
	struct varlena *result = palloc(VARHDRSZ + (Size) length);

	SET_VARSIZE(result, VARHDRSZ + length);
	memcpy(VARDATA(result), data, length);
	return PointerGetDatum(result);
}

/*
 * BytesToDatum makes a value that is passed by reference of its bytes.
 */
static Datum
BytesToDatum(const LayoutColumn *column, const PackedBytes *bytes)
{
	char	   *copy;

	if (column->typlen == -1)
		return MakeVarlena(bytes->data, bytes->len);
	Assert(column->typlen == (int64) bytes->len);
	copy = palloc(bytes->len);
	memcpy(copy, bytes->data, bytes->len);
	return PointerGetDatum(copy);
}

/*
 * ZbxhistPackedDatum returns a row's value of the column packed, which is
 * that of column; what is passed by reference is allocated in the current
 * context.
 */
Datum
ZbxhistPackedDatum(const LayoutColumn *column, const PackedColumn *packed,
				   int row, bool *isnull)
{
	char		image[UNSIGNED_IMAGE_SIZE];

	*isnull = packed->nulls != NULL && packed->nulls[row];
	if (*isnull)
		return (Datum) 0;
	Assert(packed_kind_is_right(column, packed));
	switch (packed->kind)
	{
		case PACKED_INT:
			return packed_ints_are_datums(column) ? (Datum) packed->ints[row] :
				CharGetDatum((char) packed->ints[row]);
		case PACKED_DOUBLE:
			return Float8GetDatum(packed->doubles[row]);
		case PACKED_UNSIGNED:
			return MakeVarlena(image,
							   ZbxhistUnsignedToImage(packed->unsigneds[row],
													  image));
		default:
			return BytesToDatum(column, &packed->bytes[row]);
	}
}
