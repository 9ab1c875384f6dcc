/*-------------------------------------------------------------------------
 *
 * packed_column.h
 *	  Values of a column, as they are packed and unpacked.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_PACKED_COLUMN_H
#define ZBXHIST_PACKED_COLUMN_H

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
	PackedKind	kind;			/* of each segment its own */
	bool	   *nulls;			/* NULL: no value is null */
	int64	   *ints;
	double	   *doubles;
	uint64	   *unsigneds;
	PackedBytes *bytes;
} PackedColumn;

#endif							/* ZBXHIST_PACKED_COLUMN_H */
