/*-------------------------------------------------------------------------
 *
 * segment_format.h
 *	  The bytes of a group of segments.
 *
 *		magic (2 bytes), version (1), GROUP_ kind (1)
 *		CRC-32C (4) of the bytes before it and of all to the directory's end
 *		varints: columns, segments, length of the directory
 *		the directory:
 *			itemid of the first segment
 *			a column each of what the itemid of a segment is more than that of
 *			the one before, first clocks, seconds to the last clock, rows and
 *			lengths: the least number (a varint), the width in bits (1) of the
 *			distances from it, and these
 *			statistics, segment after segment
 *		the segments, one after the other:
 *			CRC-32C (4) of the rest
 *			varints: length of each column but the last
 *			the columns: a byte of COLUMN_ bits, not for clocks; if there are
 *			nulls, the length of their stream and the stream (0, 1); values
 *			that are not null
 *
 * Of each clock of a segment the first clock is subtracted, and of unsigned numbers with
 * statistics the smallest one; these are in the directory.  A damaged segment does not
 * affect the others.
 *
 * A segment may share its clocks and ns with others; then they are in a vector that is
 * stored elsewhere.  Instead of the stream of clocks the segment has CLOCKS_SHARED, the
 * number of the vector (a varint), and which of the vector's rows between its first
 * and last clock it has: 0 for all of them, or 1, the number of these rows and a bit for
 * each.  The column ns has the byte of flags only.  A group of vectors has two columns,
 * clock and ns; the number of a vector takes the place of the itemid.
 *
 * The stand-in for a group on another server has, after magic, version and kind: the
 * CRC-32C of all bytes of the group, the copy of the day, the group's number in that,
 * the length of the group, and maybe its bytes up to the end of the directory.
 *
 * Statistics of doubles may begin with the rest of the sum (segment_stats.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SEGMENT_FORMAT_H
#define ZBXHIST_SEGMENT_FORMAT_H

#include "port/pg_crc32c.h"

#include "format/codec.h"
#include "format/segment.h"

#define GROUP_MAGIC_0 'z'
#define GROUP_MAGIC_1 'h'
#define GROUP_VERSION 1
#define GROUP_VALUES 0			/* the kind */
#define GROUP_TIMES 1
#define GROUP_ARCHIVED 2		/* bytes that are elsewhere, see below */
#define GROUP_CRC_OFFSET 4
#define GROUP_FIXED_LENGTH 8	/* up to the varints */

#define SEGMENT_CRC_LENGTH 4

/* what stands for a group that is stored on another server */
#define ARCHIVED_COPY_OFFSET 8	/* UUID of the copy of the day */
#define ARCHIVED_NUMBER_OFFSET 24	/* number in it (8 bytes) */
#define ARCHIVED_LENGTH_OFFSET 32	/* of the group (4) */
#define ARCHIVED_LENGTH 36		/* up to the group's directory */

/* a column of a segment begins with a byte of these */
#define COLUMN_KIND 0x07		/* PackedKind */
#define COLUMN_NULLS 0x08
#define COLUMN_FROM_MIN 0x10	/* less the smallest of the statistics */
#define COLUMN_SHARED 0x20		/* as the clocks are */
#define COLUMN_ALL 0x3F

/* no stream of integers begins with it */
#define CLOCKS_SHARED 0x07

/* the columns of a vector: clock, ns */
#define TIMES_COLUMNS 2

/* columns of the directory */
#define DIRECTORY_NUMBERS 5

/* the least and the greatest number of a column */
typedef struct NumberRange
{
	uint64		least;
	uint64		greatest;
} NumberRange;

/* a directory being written */
typedef struct Directory
{
	int			nsegments;
	int64		first_itemid;
	int64		last_itemid;
	NumberRange ranges[DIRECTORY_NUMBERS];
	ByteBuffer	numbers;		/* uint64, so many for each segment */
	ByteBuffer	stats;
} Directory;

/* the statistics in a directory being read */
struct StatsReader
{
	const uint8 *first;
	const uint8 *end;
	const uint8 *next;			/* those of: */
	int			segment;
};

/* rows of a segment that has shared times, as far as they have been read */
typedef struct TimesReader
{
	ByteReader	clocks;			/* the column */
	int64	   *rows[TIMES_COLUMNS];	/* palloc'd; null: not read yet */
} TimesReader;

/* Begins the bytes of a group, but for their checksum. */
static inline void
group_put_head(uint8 *data, uint8 kind)
{
	memset(data, 0, GROUP_FIXED_LENGTH);
	data[0] = GROUP_MAGIC_0;
	data[1] = GROUP_MAGIC_1;
	data[2] = GROUP_VERSION;
	data[3] = kind;
}

/* Do bytes begin as those of a group do, whatever version and kind? */
static inline bool
group_has_head(const uint8 *data, size_t length)
{
	return length >= GROUP_FIXED_LENGTH && data[0] == GROUP_MAGIC_0 &&
		data[1] == GROUP_MAGIC_1;
}

/* segment_times.c */
extern void ZbxhistPutTimes(ByteBuffer *buffer, const SegmentRows *rows,
							int from, int n);
extern bool ZbxhistGetTimes(TimesReader *times, const GroupReader *reader,
							int segment);

/* segment_columns.c */
extern pg_crc32c ZbxhistSegmentChecksum(const uint8 *data, size_t length);
extern void ZbxhistEncodeRows(ByteBuffer *buffer, const SegmentRows *rows,
							  int from, int n, int stats_column,
							  const SegmentStats *stats);
extern bool ZbxhistDecodeRows(ByteReader *bytes, const GroupReader *reader,
							  int segment, const bool *wanted,
							  SegmentRows *rows);

/* segment_directory.c */
extern void ZbxhistInitDirectory(Directory *directory);
extern void ZbxhistResetDirectory(Directory *directory);
extern size_t ZbxhistDirectoryLength(const Directory *directory);
extern size_t ZbxhistDirectoryGrowth(const Directory *directory,
									 const SegmentInfo *info);
extern void ZbxhistDirectoryAdd(Directory *directory, const SegmentInfo *info,
								const ByteBuffer *stats);
extern void ZbxhistPutDirectory(ByteBuffer *buffer,
								const Directory *directory);
extern bool ZbxhistGetDirectory(ByteReader *bytes, GroupReader *reader,
								uint32 offset, const int64 *item);
extern bool ZbxhistCopyStats(ByteBuffer *buffer, const GroupReader *reader,
							 int segment);

/* segment_stats.c */
extern void ZbxhistPutStats(ByteBuffer *buffer, const SegmentStats *stats,
							uint32 nrows);
extern bool ZbxhistGetStats(ByteReader *reader, SegmentStats *stats,
							uint32 nrows);
extern bool ZbxhistSkipStats(ByteReader *reader);

/* segment_reader.c */
extern pg_crc32c ZbxhistGroupChecksum(const uint8 *data, size_t length);

#endif							/* ZBXHIST_SEGMENT_FORMAT_H */
