/*-------------------------------------------------------------------------
 *
 * row_compare.h
 *	  Rows of decoded segments and runs: which is which.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROW_COMPARE_H
#define ZBXHIST_ROW_COMPARE_H

#include "packed/format/run.h"
#include "packed/values/layout.h"

extern PackedBytes ZbxhistValueBytes(const PackedColumn *column, int row,
									 char *image);
extern bool ZbxhistSameRow(const SegmentRows *a, int row_a,
						   const SegmentRows *b, int row_b);
extern int	ZbxhistFirstOfClock(const SegmentRows *rows, int32 clock);
extern int64 ZbxhistRowPosition(const DayLayout *layout,
								const SegmentRows *rows, int row);
extern int64 ZbxhistRunPosition(const DayLayout *layout,
								const RunRows *rows, int row);

#endif							/* ZBXHIST_ROW_COMPARE_H */
