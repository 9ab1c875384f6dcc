/*-------------------------------------------------------------------------
 *
 * column_values.h
 *	  A column of values as bytes, nulls among them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_COLUMN_VALUES_H
#define ZBXHIST_COLUMN_VALUES_H

#include "packed/format/codec.h"

/* a column begins with a byte of these */
#define COLUMN_KIND 0x07		/* PackedKind */
#define COLUMN_NULLS 0x08
#define COLUMN_FROM_MIN 0x10	/* less the smallest of the statistics */
#define COLUMN_SHARED 0x20		/* as the clocks are */
#define COLUMN_REPEATS 0x40		/* of runs: some are those of the row before */

/* how many flags are set: of all, and of those before a slice and in it */
typedef struct FlagCounts
{
	int			all;
	int			before;
	int			within;
} FlagCounts;

extern void ZbxhistPutColumn(ByteBuffer *buffer, PackedKind kind, uint8 flags,
							 const void *values, const bool *nulls, int n);
extern void ZbxhistPutStream(ByteBuffer *buffer, const uint64 *values, int n);
extern void ZbxhistPutFlags(ByteBuffer *buffer, const bool *flags, int n);
extern size_t ZbxhistStringBytes(const PackedColumn *columns, int ncolumns,
								 int row);
extern const void *ZbxhistColumnValues(const PackedColumn *column, int from);

extern bool ZbxhistNextColumn(ByteReader *lengths, ByteReader *columns,
							  bool is_last, ByteReader *column);
extern bool ZbxhistGetColumnFlags(ByteReader *reader, PackedColumn *column,
								  uint8 *flags, uint8 allowed);
extern bool ZbxhistGetColumn(ByteReader *reader, PackedColumn *column,
							 uint8 flags, Slice slice, uint64 smallest);
extern bool *ZbxhistGetFlags(ByteReader *reader, Slice slice,
							 FlagCounts *counts);

#endif							/* ZBXHIST_COLUMN_VALUES_H */
