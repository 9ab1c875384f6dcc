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
 * Nothing here knows PostgreSQL's types or tables.  Whatever bytes are given
 * to the reading functions, they return false rather than read or write out
 * of bounds; the caller says which table, day and item it was.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SEGMENT_H
#define ZBXHIST_SEGMENT_H

/* how the values of a column are held in memory and packed */
typedef enum PackedKind
{
	PACKED_INT = 1,				/* int64 */
	PACKED_DOUBLE = 2,			/* double, bit by bit */
	PACKED_UNSIGNED = 3,		/* uint64 */
	PACKED_BYTES = 4			/* any bytes */
} PackedKind;

typedef struct PackedBytes
{
	const char *data;
	uint32		len;
} PackedBytes;

/* a column of a segment; the array that belongs to kind is set */
typedef struct PackedColumn
{
	PackedKind	kind;
	bool	   *nulls;			/* NULL: no value is null */
	int64	   *ints;
	double	   *doubles;
	uint64	   *unsigneds;
	PackedBytes *bytes;			/* decoded: point into memory of the segment's */
} PackedColumn;

/* of a segment's value column, without its nulls and NaNs */
typedef struct SegmentStats
{
	bool		is_set;			/* the column is a number, and all are counted */
	PackedKind	kind;			/* PACKED_DOUBLE or PACKED_UNSIGNED */
	uint32		count;			/* values that are not null */
	double		min_double;
	double		max_double;
	double		sum_double;		/* in the order of time */
	uint64		min_unsigned;
	uint64		max_unsigned;
	uint64		sum_high;		/* 128 bits: exact */
	uint64		sum_low;
} SegmentStats;

/* rows to be packed, or unpacked, sorted by clock */
typedef struct SegmentRows
{
	int64		itemid;
	int			nrows;
	int			ncolumns;		/* those besides itemid */
	PackedColumn *columns;		/* the first is clock, a PACKED_INT */
} SegmentRows;

/* what a group's directory says of a segment */
typedef struct SegmentInfo
{
	int64		itemid;
	int32		first_clock;
	int32		last_clock;
	uint32		nrows;
	SegmentStats stats;
	uint32		offset;			/* of its bytes in the group */
	uint32		length;
} SegmentInfo;

typedef struct GroupWriter GroupWriter;

/* a group being read; the bytes stay the caller's */
typedef struct GroupReader
{
	const uint8 *data;
	uint32		length;
	int			ncolumns;
	int			nsegments;
	SegmentInfo *segments;		/* palloc'd, sorted */
} GroupReader;

#define ZBXHIST_MAX_SEGMENT_ROWS 4096	/* but for rows of one clock */

/*
 * ZbxhistSegmentSize says how many bytes larger the group would become, its
 * directory included; ZbxhistGroupAdd of the same rows right afterwards need
 * not encode them again.  ZbxhistGroupCopy adds a segment of another group as
 * it is.
 */
extern GroupWriter *ZbxhistCreateGroupWriter(int ncolumns, int stats_column);
extern void ZbxhistGroupAdd(GroupWriter *writer, const SegmentRows *rows);
extern void ZbxhistGroupCopy(GroupWriter *writer, const GroupReader *reader,
							 int segment);
extern size_t ZbxhistGroupSize(const GroupWriter *writer);
extern int	ZbxhistGroupNumSegments(const GroupWriter *writer);
extern size_t ZbxhistSegmentSize(GroupWriter *writer, const SegmentRows *rows);
extern uint8 *ZbxhistGroupFinish(GroupWriter *writer, size_t *length);
extern void ZbxhistFreeGroupWriter(GroupWriter *writer);

extern bool ZbxhistOpenGroup(GroupReader *reader, const uint8 *data,
							 size_t length, int ncolumns);
extern int	ZbxhistFindSegment(const GroupReader *reader, int64 itemid,
							   int32 clock);
extern bool ZbxhistCheckSegment(const GroupReader *reader, int segment);
extern bool ZbxhistDecodeSegment(const GroupReader *reader, int segment,
								 const bool *wanted, SegmentRows *rows);

#endif							/* ZBXHIST_SEGMENT_H */
