/*-------------------------------------------------------------------------
 *
 * segment.h
 *	  Rows of items as bytes: segments, and groups of segments.
 *
 * A segment holds rows of one item that follow each other in time, column by
 * column.  A group holds segments of one or more items, sorted by item and
 * clock; it is what one row of a day's table stores.  All rows of an item
 * that have the same clock are in one segment.
 *
 * Nothing here knows PostgreSQL's types or tables.  The reading functions never read or
 * write out of bounds, whatever bytes they get: they return false, and the caller reports
 * table, day and item.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SEGMENT_H
#define ZBXHIST_SEGMENT_H

#include "format/packed_column.h"

/*
 * Of a segment's value column.  Nulls do not count.  The smallest, the
 * greatest and the sum are what PostgreSQL's aggregates make of the values
 * one after the other; if there are NaNs or infinities among them, or the
 * column is no number, or the sum is too large, then nothing is set.
 *
 * The rest is what rounding took from a sum of doubles: both together are the
 * exact sum.  Few values, and those that are of very different size, have none.
 */
typedef struct SegmentStats
{
	bool		is_set;
	PackedKind	kind;			/* PACKED_DOUBLE or PACKED_UNSIGNED */
	uint32		count;			/* values that are not null; if 0, nothing
								 * else is set */
	double		min_double;
	double		max_double;
	double		sum_double;		/* in the order of time */
	bool		has_rest;
	double		rest_double;
	uint64		min_unsigned;
	uint64		max_unsigned;
	uint64		sum_high;		/* 128 bits: exact */
	uint64		sum_low;
} SegmentStats;

/* when rows of several items are from: a vector, sorted by clock */
typedef struct SharedTimes
{
	uint64		number;			/* segments refer to it by this number */
	int			ntimes;
	const int64 *clocks;
	const int64 *ns;
} SharedTimes;

/* rows to be packed, or unpacked, sorted by clock */
typedef struct SegmentRows
{
	int64		itemid;
	int			nrows;
	int			ncolumns;		/* those besides itemid */
	PackedColumn *columns;		/* the first is clock: PACKED_INT, no nulls */

	/* only if they are to be packed; null: with times of their own */
	const SharedTimes *shared;
	const int  *places;			/* of each row among those; null: the same */
	int			ns_column;
} SegmentRows;

/* where a reader finds vectors by their number; false: they are damaged */
typedef struct TimesSource TimesSource;
struct TimesSource
{
	bool		(*find) (TimesSource *source, uint64 number,
						 SharedTimes *times);
};

/* what a group's directory says of a segment */
typedef struct SegmentInfo
{
	int64		itemid;
	int32		first_clock;
	int32		last_clock;
	uint32		nrows;
	uint32		offset;			/* of its bytes in the group */
	uint32		length;
} SegmentInfo;

typedef struct GroupWriter GroupWriter;
typedef struct StatsReader StatsReader;

/* a group being read; the bytes stay the caller's */
typedef struct GroupReader
{
	const uint8 *data;
	uint32		length;
	uint32		nhere;			/* bytes that are in data: all, or up to the
								 * directory's end */
	int			ncolumns;
	bool		is_whole;		/* has all segments, not only those of one
								 * item */
	int			nsegments;
	SegmentInfo *segments;		/* palloc'd, sorted */
	int			first_segment;	/* number of the first one in the group */

	/* of the whole group */
	int64		first_itemid;
	int64		last_itemid;
	int32		first_clock;	/* of the first item */
	int32		last_clock;		/* of the last item */
	StatsReader *stats;			/* palloc'd */

	/* set by the code that opens the group; null: shared times are damage */
	TimesSource *times;
} GroupReader;

/* rows in a segment, unless all have the same clock */
#define ZBXHIST_MAX_SEGMENT_ROWS 4096

/* rows of the same item and clock */
#define ZBXHIST_MAX_CLOCK_ROWS 65535

/* segment_writer.c */
extern GroupWriter *ZbxhistCreateGroupWriter(int ncolumns, int stats_column);
extern GroupWriter *ZbxhistCreateTimesWriter(void);
extern int	ZbxhistGroupAdd(GroupWriter *writer, const SegmentRows *rows,
							int from, size_t max_size);
extern bool ZbxhistGroupCopy(GroupWriter *writer, const GroupReader *reader,
							 int segment, size_t max_size);
extern size_t ZbxhistGroupSize(const GroupWriter *writer);
extern int	ZbxhistGroupNumSegments(const GroupWriter *writer);
extern uint8 *ZbxhistGroupFinish(GroupWriter *writer, size_t *length);

/* segment_reader.c */
extern bool ZbxhistOpenGroup(GroupReader *reader, const uint8 *data,
							 size_t length, int ncolumns);
extern bool ZbxhistOpenDirectory(GroupReader *reader, const uint8 *data,
								 size_t nhere, size_t length, int ncolumns,
								 const int64 *itemid);
extern bool ZbxhistOpenTimes(GroupReader *reader, const uint8 *data,
							 size_t length, const int64 *itemid);
extern int	ZbxhistNewerFormat(const GroupReader *reader);
extern int	ZbxhistFindSegment(const GroupReader *reader, int64 itemid,
							   int32 clock);
extern bool ZbxhistCheckSegment(const GroupReader *reader, int segment);
extern bool ZbxhistDecodeSegment(const GroupReader *reader, int segment,
								 const bool *wanted, SegmentRows *rows);

/* segment_times.c */
extern bool ZbxhistHasSharedTimes(const GroupReader *reader, int segment,
								  uint64 *number);

/* segment_directory.c */
extern bool ZbxhistReadStats(const GroupReader *reader, int segment,
							 SegmentStats *stats);

/* segment_stats.c */
extern void ZbxhistComputeStats(const PackedColumn *column, int from, int n,
								SegmentStats *stats);

#endif							/* ZBXHIST_SEGMENT_H */
