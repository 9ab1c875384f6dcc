/*-------------------------------------------------------------------------
 *
 * rows.h
 *	  Packs rows, unpacks and compares them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROWS_H
#define ZBXHIST_ROWS_H

#include "format/segment.h"

/* result of packing */
typedef struct PackedSize
{
	size_t		bytes;
	int			ngroups;
	int			nsegments;
	size_t		largest;		/* group with more than one clock */
	double		encode_seconds;
	double		decode_seconds;
} PackedSize;

/* finds the shared times of checked groups; null: none has any */
extern TimesSource *times_source;

extern PackedColumn *make_columns(const PackedKind *kinds, int ncolumns,
								  int nrows);
extern bool same_value(const PackedColumn *a, int row_a,
					   const PackedColumn *b, int row_b);
extern const char *round_trip(const SegmentRows *items, int nitems,
							  int stats_column, size_t max_size,
							  PackedSize *size);

#endif							/* ZBXHIST_ROWS_H */
