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

/* columns in a table, and then some */
#define PACKED_MAX_COLUMNS 2000

typedef struct PackedBytes
{
	const char *data;
	uint32		len;
} PackedBytes;

/* a column of a segment, and the array of its kind */
typedef struct PackedColumn
{
	PackedKind	kind;			/* of each segment its own */
	bool	   *nulls;			/* NULL: no value is null */
	union
	{
		void	   *values;
		int64	   *ints;
		double	   *doubles;
		uint64	   *unsigneds;
		PackedBytes *bytes;
	};
} PackedColumn;

/* The size of a value in the array of a kind. */
static inline size_t
packed_value_size(PackedKind kind)
{
	return kind == PACKED_BYTES ? sizeof(PackedBytes) : sizeof(uint64);
}

#endif							/* ZBXHIST_PACKED_COLUMN_H */
