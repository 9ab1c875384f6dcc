/*-------------------------------------------------------------------------
 *
 * rows.h
 *	  Rows are packed, unpacked and compared.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROWS_H
#define ZBXHIST_ROWS_H

#include "format/segment.h"

/* what packing came to */
typedef struct PackedSize
{
	size_t		bytes;
	int			ngroups;
	int			nsegments;
	size_t		largest;		/* group with more than one clock */
	double		encode_seconds;
	double		decode_seconds;
} PackedSize;

/* where groups that are checked have shared times from; null: none have any */
extern TimesSource *times_source;

extern PackedColumn *make_columns(const PackedKind *kinds, int ncolumns,
								  int nrows);
extern bool same_value(const PackedColumn *a, int row_a,
					   const PackedColumn *b, int row_b);
extern const char *round_trip(const SegmentRows *items, int nitems,
							  int stats_column, size_t max_size,
							  PackedSize *size);

#endif							/* ZBXHIST_ROWS_H */
