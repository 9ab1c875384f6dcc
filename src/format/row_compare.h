/*-------------------------------------------------------------------------
 *
 * row_compare.h
 *	  Compares rows of decoded segments.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROW_COMPARE_H
#define ZBXHIST_ROW_COMPARE_H

#include "format/layout.h"

extern PackedBytes ZbxhistValueBytes(const PackedColumn *column, int row,
									 char *image);
extern bool ZbxhistSameRow(const SegmentRows *a, int row_a,
						   const SegmentRows *b, int row_b);
extern int	ZbxhistFirstOfClock(const SegmentRows *rows, int32 clock);
extern int64 ZbxhistRowPosition(const DayLayout *layout,
								const SegmentRows *rows, int row);
extern uint64 ZbxhistHashRows(const SegmentRows *rows);

/* mixes the bits of a value into a hash */
static inline uint64
mix_hash(uint64 hash, uint64 value)
{
	hash = (hash ^ value) + UINT64CONST(0x9e3779b97f4a7c15);
	hash = (hash ^ (hash >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	hash = (hash ^ (hash >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return hash ^ (hash >> 31);
}

#endif							/* ZBXHIST_ROW_COMPARE_H */
