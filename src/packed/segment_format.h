/*-------------------------------------------------------------------------
 *
 * segment_format.h
 *	  The bytes of a group of segments.
 *
 *		magic (2 bytes), version (1), zero (1)
 *		CRC-32C (4) of the bytes before it and of all to the directory's end
 *		varints: columns, segments, length of the directory
 *		the directory: for each segment
 *			itemid, first clock, seconds to the last clock, rows and length,
 *			each as the difference from the segment before; statistics
 *		the segments, one after the other:
 *			CRC-32C (4) of the rest
 *			varints: length of each column but the last
 *			the columns: a byte of COLUMN_ bits, not for clocks; if there are
 *			nulls, the length of their stream and the stream (0, 1); values
 *			that are not null
 *
 * Clocks of a segment are written less the first clock, unsigned numbers that
 * have statistics less the smallest: the directory says what these are.  A
 * segment that is damaged does not hinder those beside it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SEGMENT_FORMAT_H
#define ZBXHIST_SEGMENT_FORMAT_H

#include "port/pg_crc32c.h"

#include "packed/codec.h"

#define GROUP_MAGIC_0 'z'
#define GROUP_MAGIC_1 'h'
#define GROUP_VERSION 2
#define GROUP_CRC_OFFSET 4
#define GROUP_FIXED_LENGTH 8	/* up to the varints */

#define SEGMENT_CRC_LENGTH 4

#define COLUMN_KIND 0x07		/* PackedKind */
#define COLUMN_NULLS 0x08
#define COLUMN_FROM_MIN 0x10	/* less the smallest of the statistics */
#define COLUMN_ALL 0x1F

/* what the directory's entries begin with, at least */
#define MIN_ENTRY_LENGTH 6

/* segment.c */
extern void ZbxhistEncodeRows(ByteBuffer *buffer, const SegmentRows *rows,
							  int from, int n, int stats_column,
							  const SegmentStats *stats);
extern bool ZbxhistDecodeRows(ByteReader *reader, const SegmentInfo *info,
							  const bool *wanted, SegmentRows *rows);

/* segment_stats.c */
extern void ZbxhistPutStats(ByteBuffer *buffer, const SegmentStats *stats,
							uint32 nrows);
extern bool ZbxhistGetStats(ByteReader *reader, SegmentStats *stats,
							uint32 nrows);

/* segment_reader.c */
extern pg_crc32c ZbxhistGroupChecksum(const uint8 *data, size_t length);
extern pg_crc32c ZbxhistSegmentChecksum(const uint8 *data, size_t length);

#endif							/* ZBXHIST_SEGMENT_FORMAT_H */
