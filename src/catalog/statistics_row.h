/*-------------------------------------------------------------------------
 *
 * statistics_row.h
 *	  Rows of pg_statistic that are made, not read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_STATISTICS_ROW_H
#define ZBXHIST_STATISTICS_ROW_H

#include "access/htup.h"

extern void ZbxhistSetStatisticsRow(HeapTuple *row, Oid type, double ndistinct,
									const int64 *bounds, int nbounds);

#endif							/* ZBXHIST_STATISTICS_ROW_H */
