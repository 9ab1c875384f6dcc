/*-------------------------------------------------------------------------
 *
 * layout.h
 *	  The columns of a day's table, and values of PostgreSQL as its segments
 *	  hold them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_LAYOUT_H
#define ZBXHIST_LAYOUT_H

#include "access/tupdesc.h"
#include "executor/tuptable.h"
#include "utils/relcache.h"

#include "format/segment.h"
#include "format/value_check.h"

/*
 * A day's table begins with these columns; one row is a group of segments.
 * After them come the packed table's own columns, with its names and types,
 * which are always null: they tell what the segments contain.
 */
#define DAY_ATTNUM_FIRST_ITEMID 1	/* bigint; of the first segment */
#define DAY_ATTNUM_FIRST_CLOCK 2	/* integer; of the first segment */
#define DAY_ATTNUM_LAST_ITEMID 3	/* bigint; of the last segment */
#define DAY_ATTNUM_LAST_CLOCK 4 /* integer; of the last segment */
#define DAY_ATTNUM_ROWS 5		/* integer; in all segments */
#define DAY_ATTNUM_PAYLOAD 6	/* bytea */
#define DAY_NUM_ATTRIBUTES 6

/* a packed column */
typedef struct LayoutColumn
{
	NameData	name;
	Oid			type;
	int32		typmod;
	int16		typlen;
	bool		typbyval;
	PackedKind	kind;			/* numbers that are not unsigned: bytes */
	int			packed;			/* index in SegmentRows.columns; -1: itemid */
	bool		is_replaced;	/* the table's column of that name is a
								 * different one */
	ValueCheck	check;			/* how packed values are checked; may be
								 * unknown */
} LayoutColumn;

typedef struct DayLayout
{
	int			ncolumns;		/* of the packed table, itemid included */
	LayoutColumn *columns;		/* in the order of the day's table */
	int			npacked;		/* ncolumns - 1 */
	const LayoutColumn **packed;	/* those columns, as segments have them */
	int			itemid;			/* index in columns */
	int			clock;			/* index in columns; its packed is 0 */
	int			ns;				/* index in columns, or -1 */
	int			value;			/* index of the column with statistics, or -1 */
} DayLayout;

/* whether a column of a segment holds what its layout says */
#define packed_kind_is_right(column, packed) \
	((packed)->kind == (column)->kind || \
	 ((packed)->kind == PACKED_BYTES && (column)->kind == PACKED_UNSIGNED))

/*
 * packed_ints_are_datums says whether packed numbers of a column that is passed by
 * value are its Datums: what is above a type's width is the sign, as in these,
 * but for a char's on some machines.
 */
static inline bool
packed_ints_are_datums(const LayoutColumn *column)
{
	return column->typbyval && column->typlen > sizeof(char);
}

extern DayLayout *ZbxhistDayLayout(Relation day);
extern bool ZbxhistFindLayout(const DayLayout *layout, TupleDesc desc,
							  AttrNumber *attributes);
extern bool ZbxhistLayoutSuits(const DayLayout *layout, Relation day);
extern const char *ZbxhistWhyNotPackable(TupleDesc desc);
extern Datum ZbxhistPackedDatum(const LayoutColumn *column,
								const PackedColumn *packed, int row,
								bool *isnull);
extern int64 ZbxhistDatumToInt(const LayoutColumn *column, Datum value);
extern int	ZbxhistStatsColumn(const DayLayout *layout);

#endif							/* ZBXHIST_LAYOUT_H */
