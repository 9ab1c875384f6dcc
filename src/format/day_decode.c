/*-------------------------------------------------------------------------
 *
 * day_decode.c
 *	  Checks the bytes of a day's table before they become values of PostgreSQL.
 *
 * The bytes of a day are not trusted: a page may be damaged without a wrong page
 * checksum, and the owner of the table can write to it.  The payload must lie within
 * its row, the row must agree with the group's directory, the checksum of a segment must
 * be right, and every value must be one of its column's type.  Anything else raises
 * XX001.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "compat.h"
#include "format/day_decode.h"
#include "tables/owned_table.h"
#include "tables/packed_days.h"

/* ---- errors ---- */

/*
 * hint_verify adds the hint that names zbxhist.verify(), if the day is one of
 * a table's.
 */
static int
hint_verify(Relation day)
{
	PackedDay	entry;
	const char *name;

	if (!ZbxhistReadPackedDay(RelationGetRelid(day), NULL, &entry) ||
		(name = ZbxhistQualifiedName(entry.parent)) == NULL)
		return 0;
	return errhint("SELECT * FROM zbxhist.verify(%s);",
				   quote_literal_cstr(name));
}

/*
 * ZbxhistRaiseCorrupt raises the error for bytes that are not a valid segment.
 */
void
ZbxhistRaiseCorrupt(Relation day, int64 itemid)
{
	ereport(ERROR,
			errcode(ERRCODE_DATA_CORRUPTED),
			errmsg("packed values of item " INT64_FORMAT " in \"%s\" are corrupt",
				   itemid, RelationGetRelationName(day)),
			hint_verify(day),
			errtable(day));
}

/*
 * ZbxhistWhyNotOpened says why a group could not be opened.
 */
const char *
ZbxhistWhyNotOpened(const GroupReader *reader)
{
	int			format = ZbxhistNewerFormat(reader);

	return format == 0 ? "damaged directory" :
		psprintf("format %d, which this version of zbxhist does not know",
				 format);
}

/*
 * ZbxhistRaiseNotOpened raises the error for a group that could not be opened,
 * or is not the right one.
 */
void
ZbxhistRaiseNotOpened(Relation day, int64 itemid, const GroupReader *reader)
{
	if (ZbxhistNewerFormat(reader) == 0)
		ZbxhistRaiseCorrupt(day, itemid);
	ereport(ERROR,
			errcode(ERRCODE_DATA_CORRUPTED),
			errmsg("packed values of item " INT64_FORMAT " in \"%s\" have %s",
				   itemid, RelationGetRelationName(day),
				   ZbxhistWhyNotOpened(reader)),
			errdetail("A newer version has written them, or they are corrupt."),
			hint_verify(day),
			errtable(day));
}

/*
 * RaiseInvalid raises the error for a value that is not valid for its column's type.
 */
static void
RaiseInvalid(Relation day, int64 itemid, const LayoutColumn *column)
{
	ereport(ERROR,
			errcode(ERRCODE_DATA_CORRUPTED),
			errmsg("packed values of item " INT64_FORMAT " in \"%s\" are corrupt",
				   itemid, RelationGetRelationName(day)),
			errdetail("Column \"%s\" has bytes that are no value of type %s.",
					  NameStr(column->name),
					  format_type_with_typemod(column->type, column->typmod)),
			hint_verify(day),
			errtable(day));
}

/*
 * ZbxhistRequireKnown raises an error if a column has a type whose values cannot be
 * checked.
 */
void
ZbxhistRequireKnown(Relation day, const LayoutColumn *column)
{
	if (column->check.kind == CHECK_UNKNOWN)
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("column \"%s\" of packed day \"%s\" has type %s, whose packed values cannot be checked",
					   NameStr(column->name), RelationGetRelationName(day),
					   format_type_be(column->type)),
				errdetail("Bytes that are not a valid value of the type could crash the server."),
				errtable(day));
}

/* ---- a row of the day's table ---- */

/*
 * IsStoredElsewhere says whether a value is a pointer to the table's own TOAST
 * table, which has room for it.
 */
static bool
IsStoredElsewhere(Relation day, const char *value, size_t room)
{
	struct varatt_external pointer;

	if (room < TOAST_POINTER_SIZE || VARTAG_1B_E(value) != VARTAG_ONDISK)
		return false;
	VARATT_EXTERNAL_GET_POINTER(pointer, value);
	return pointer.va_toastrelid == day->rd_rel->reltoastrelid;
}

/*
 * GetTuple returns the tuple in slot, NULL if it is not one of the heap.
 */
static HeapTuple
GetTuple(TupleTableSlot *slot)
{
	return TTS_IS_BUFFERTUPLE(slot) ?
		((BufferHeapTupleTableSlot *) slot)->base.tuple : NULL;
}

/*
 * HasRightHeader says whether a row's header allows its columns to be read.
 */
static bool
HasRightHeader(HeapTuple tuple)
{
	return tuple->t_len > SizeofHeapTupleHeader &&
		tuple->t_data->t_hoff >= SizeofHeapTupleHeader &&
		tuple->t_data->t_hoff < tuple->t_len &&
		HeapTupleHeaderGetNatts(tuple->t_data) >= DAY_NUM_ATTRIBUTES;
}

/*
 * ZbxhistReadPlace reads from the day's row in slot where the group begins and
 * ends; returns false if the row is damaged.
 */
bool
ZbxhistReadPlace(TupleTableSlot *slot, DayGroup *group)
{
	HeapTuple	tuple = GetTuple(slot);

	if (tuple != NULL && !HasRightHeader(tuple))
		return false;
	slot_getsomeattrs(slot, DAY_NUM_ATTRIBUTES);
	for (int i = 0; i < DAY_NUM_ATTRIBUTES; i++)
	{
		if (slot->tts_isnull[i])
			return false;
	}
	group->tid = slot->tts_tid;
	group->first_itemid =
		DatumGetInt64(slot->tts_values[DAY_ATTNUM_FIRST_ITEMID - 1]);
	group->first_clock =
		DatumGetInt32(slot->tts_values[DAY_ATTNUM_FIRST_CLOCK - 1]);
	group->last_itemid =
		DatumGetInt64(slot->tts_values[DAY_ATTNUM_LAST_ITEMID - 1]);
	group->last_clock =
		DatumGetInt32(slot->tts_values[DAY_ATTNUM_LAST_CLOCK - 1]);
	group->nrows = DatumGetInt32(slot->tts_values[DAY_ATTNUM_ROWS - 1]);
	return true;
}

/*
 * ZbxhistHasPayload says whether the payload of the day's row in slot, whose place has
 * been read, is within the row.  With a damaged length word we would read memory beyond
 * it.
 */
bool
ZbxhistHasPayload(Relation day, TupleTableSlot *slot)
{
	const char *value =
		DatumGetPointer(slot->tts_values[DAY_ATTNUM_PAYLOAD - 1]);
	HeapTuple	tuple = GetTuple(slot);
	size_t		offset;
	size_t		room;

	if (tuple == NULL)
		return true;
	offset = value - (const char *) tuple->t_data;
	if (offset >= tuple->t_len)
		return false;
	room = tuple->t_len - offset;
	if (VARATT_IS_1B_E(value))
		return IsStoredElsewhere(day, value, room);
	if (VARATT_IS_1B(value))
		return VARSIZE_1B(value) <= room;
	return room >= VARHDRSZ && VARSIZE_4B(value) >= VARHDRSZ &&
		VARSIZE_4B(value) <= room;
}

/*
 * ZbxhistDeletedBy returns the transaction that has deleted the row of a day's
 * table in slot, or is about to; one that has only locked it does not count.
 */
TransactionId
ZbxhistDeletedBy(TupleTableSlot *slot)
{
	const HeapTupleHeader header = ((HeapTupleTableSlot *) slot)->tuple->t_data;

	return HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask) ?
		InvalidTransactionId : HeapTupleHeaderGetUpdateXid(header);
}

/* ---- a group ---- */

/*
 * ZbxhistGroupAgrees says whether the group's directory agrees with its row, in
 * places and, if all of it is open, in the number of rows.
 */
bool
ZbxhistGroupAgrees(const DayGroup *group)
{
	const GroupReader *reader = &group->reader;
	int64		nrows = 0;

	for (int i = 0; i < reader->nsegments; i++)
		nrows += reader->segments[i].nrows;
	return reader->first_itemid == group->first_itemid &&
		reader->first_clock == group->first_clock &&
		reader->last_itemid == group->last_itemid &&
		reader->last_clock == group->last_clock &&
		(!reader->is_whole || nrows == group->nrows);
}

/* ---- a segment ---- */

/*
 * ZbxhistFindWrong returns the first row, from first on, whose value in a decoded
 * column is not one of the column's type; the number of rows if there is none.  The
 * column must have the right kind.
 */
int
ZbxhistFindWrong(const LayoutColumn *column, const SegmentRows *rows,
				 int first)
{
	return ZbxhistFindInvalid(&column->check, &rows->columns[column->packed],
							  first, rows->nrows);
}

/*
 * WhySegmentNotDecoded says why a segment, whose checksum is right, could not
 * be decoded.
 */
static const char *
WhySegmentNotDecoded(const GroupReader *reader, int segment)
{
	SharedTimes times;
	uint64		number;

	if (ZbxhistHasSharedTimes(reader, segment, &number) &&
		!reader->times->find(reader->times, number, &times))
		return psprintf("times " UINT64_FORMAT ", which it shares with other items, cannot be read",
						number);
	return "values cannot be decoded";
}

/*
 * ZbxhistWhyNotDecoded decodes all columns of a segment and returns NULL, or the
 * reason why that is not possible.  The group must have a source of shared times.
 * Values are not checked.
 */
const char *
ZbxhistWhyNotDecoded(const DayLayout *layout, const GroupReader *reader,
					 int segment, SegmentRows *rows)
{
	if (!ZbxhistCheckSegment(reader, segment))
		return "wrong checksum";
	if (!ZbxhistDecodeSegment(reader, segment, NULL, rows) ||
		rows->ncolumns != layout->npacked)
		return WhySegmentNotDecoded(reader, segment);
	for (int i = 1; i < rows->ncolumns; i++)
	{
		if (!packed_kind_is_right(layout->packed[i], &rows->columns[i]))
			return psprintf("values of column \"%s\" have another type",
							NameStr(layout->packed[i]->name));
	}
	return NULL;
}

/*
 * CheckColumn raises an error unless the values of a decoded column are of
 * the type that the day's table says.
 */
static void
CheckColumn(Relation day, const LayoutColumn *column, const SegmentRows *rows)
{
	if (!packed_kind_is_right(column, &rows->columns[column->packed]))
		ZbxhistRaiseCorrupt(day, rows->itemid);
	ZbxhistRequireKnown(day, column);
	if (ZbxhistFindWrong(column, rows, 0) < rows->nrows)
		RaiseInvalid(day, rows->itemid, column);
}

/*
 * ZbxhistDecodeDaySegment decodes a segment of a day's group, all columns or
 * those wanted, and makes sure that it holds what the layout says.  Allocates
 * in the current context.
 */
void
ZbxhistDecodeDaySegment(Relation day, const DayLayout *layout,
						const GroupReader *reader, int segment,
						const bool *wanted, SegmentRows *rows)
{
	int64		itemid = reader->segments[segment].itemid;

	if (!ZbxhistDecodeSegment(reader, segment, wanted, rows) ||
		rows->ncolumns != layout->npacked)
		ZbxhistRaiseCorrupt(day, itemid);
	/* clocks are right if they can be decoded */
	for (int i = 1; i < rows->ncolumns; i++)
	{
		if (wanted == NULL || wanted[i])
			CheckColumn(day, layout->packed[i], rows);
	}
}
