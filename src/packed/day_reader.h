/*-------------------------------------------------------------------------
 *
 * day_reader.h
 *	  The rows of one packed day, segment by segment.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_READER_H
#define ZBXHIST_DAY_READER_H

#include "format/row_map.h"
#include "format/row_offset.h"
#include "packed/column_filter.h"
#include "packed/day.h"

/* what has been done; shown by EXPLAIN */
typedef struct ScanCounters
{
	uint64		days;
	uint64		segments_read;
	uint64		segments_skipped;	/* of groups that were read */
	uint64		values_decoded; /* rows of the segments that were read */
	ArchiveCounters archive;

	/* by aggregates */
	uint64		segments_by_stats;	/* not decoded */
	uint64		segments_excluded;	/* excluded because no row passes, by
									 * their statistics */
	uint64		rows_made;		/* of packed days */
	uint64		other_rows;		/* of tables that are not packed */
	uint64		groups_spilled; /* to a sort, each time */
} ScanCounters;

/* which rows and what of them is asked for; stays as long as its readers */
typedef struct DayReaderSpec
{
	Relation	table;			/* whose row type is returned */
	Snapshot	snapshot;
	const bool *wanted;			/* by attribute; NULL: all columns */
	const ColumnFilter *filter; /* rows that do not pass may be left out;
								 * NULL: none is */
	bool		wants_row_id;	/* clock and offset are asked for */
	bool		wants_position; /* clock and ns are asked for */
	LOCKMODE	release;		/* lock of days that are left; NoLock: it
								 * stays */
	ScanCounters *counters;
	ArchiveReader *archive;		/* NULL: each day has one of its own */
} DayReaderSpec;

typedef struct DayReader
{
	const DayReaderSpec *spec;
	Relation	rel;			/* the day's table */
	DayLayout  *layout;
	RowMap	   *map;
	bool	   *wanted;			/* packed columns */
	bool	   *wanted_partly;	/* the same where a range begins or ends */
	DayScan    *scan;
	ItemRange	range;			/* the item and positions asked for */
	bool		is_whole;		/* items from range's to another one; the
								 * order is not that of their rows */
	int64		last_itemid;	/* that one, included */

	/* the group that was read last */
	DayGroup	group;
	bool		has_group;
	bool		is_last_group;	/* none comes after it */
	int			segment;		/* next segment of this group */

	/* the segment that was decoded last; row is the present one */
	SegmentRows rows;
	int			decoded;		/* its number in the group, or -1 */
	bool		is_decoded_partly;	/* only the columns of wanted_partly are
									 * decoded */
	int			row;
	int			first_row;		/* first row in the range */
	int			last_row;
	bool	   *marks;			/* room for those of all rows; NULL: no filter */
	const bool *passes;			/* those rows that may pass it; NULL: all may */
	const PackedColumn *ns;		/* of rows; NULL: there is none */
	RowOffsets	offsets;		/* of rows of some clock */

	MemoryContext segment_context;	/* owns rows */
	MemoryContext context;		/* owns all this */
} DayReader;

extern DayReader *ZbxhistOpenDayReader(Relation day,
									   const DayReaderSpec *spec);
extern bool ZbxhistMoveDayReader(DayReader *reader, Relation day);
extern void ZbxhistDayReaderStart(DayReader *reader, const ItemRange *range);
extern void ZbxhistDayReaderStartWhole(DayReader *reader,
									   const ItemRange *range,
									   int64 first_itemid, int64 last_itemid);
extern void ZbxhistDayReaderStartBlocks(DayReader *reader, BlockNumber first,
										BlockNumber last);
extern const SegmentInfo *ZbxhistDayReaderFind(DayReader *reader);
extern bool ZbxhistIsWithinRange(const SegmentInfo *info,
								 const ItemRange *range);
extern void ZbxhistDayReaderStats(const DayReader *reader,
								  const SegmentInfo *info,
								  SegmentStats *stats);
extern void ZbxhistDayReaderSkip(DayReader *reader);
extern void ZbxhistDayReaderEnter(DayReader *reader, const SegmentInfo *info,
								  FilterVerdict verdict);
extern bool ZbxhistDayReaderNextSegment(DayReader *reader);
extern bool ZbxhistDayReaderFindItem(DayReader *reader, const ItemRange *range,
									 int64 first_itemid, int64 last_itemid,
									 bool is_last, int64 *itemid);
extern int64 ZbxhistDayReaderPosition(const DayReader *reader);
extern void ZbxhistDayReaderRowId(DayReader *reader, PackedRowId *id);
extern void ZbxhistCloseDayReader(DayReader *reader);

/*
 * next_in_segment goes to the next row of the decoded segment that may pass the filter;
 * returns false if there is none.
 */
static inline bool
next_in_segment(DayReader *reader)
{
	do
	{
		reader->row += reader->range.is_descending ? -1 : 1;
		if (reader->row < reader->first_row || reader->row > reader->last_row)
			return false;
	} while (reader->passes != NULL && !reader->passes[reader->row]);
	return true;
}

/*
 * day_reader_next goes to the next row; returns false if there is none.
 */
static inline bool
day_reader_next(DayReader *reader)
{
	return next_in_segment(reader) || ZbxhistDayReaderNextSegment(reader);
}

#endif							/* ZBXHIST_DAY_READER_H */
