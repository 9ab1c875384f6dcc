/*-------------------------------------------------------------------------
 *
 * spread.h
 *	  Variance and standard deviation of the values of a group.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SPREAD_H
#define ZBXHIST_SPREAD_H

#include "read/total.h"

extern void ZbxhistSquareAdd(Total *total, Datum value, Oid type,
							 MemoryContext owner);
extern void ZbxhistSquareAddSame(Total *total, int64 value, int64 count);
extern bool ZbxhistSquareAddColumn(Total *total, const PackedColumn *packed,
								   int from, int to);
extern void ZbxhistSquareMerge(Total *total, TotalKind kind,
							   const Total *other, MemoryContext owner);
extern Datum ZbxhistSpread(const Total *squares, const Total *sum,
						   TotalKind kind, TotalPart part, bool *isnull);

#endif							/* ZBXHIST_SPREAD_H */
