/*-------------------------------------------------------------------------
 *
 * statistics.h
 *	  Statistics of items and clocks without ANALYZE.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_STATISTICS_H
#define ZBXHIST_STATISTICS_H

#include "utils/selfuncs.h"

extern bool ZbxhistGetStatistics(RangeTblEntry *rte, AttrNumber attnum,
								 VariableStatData *stats);
extern void ZbxhistCorrectGroups(PlannerInfo *root, const RelOptInfo *input,
								 RelOptInfo *output, List *clauses);

#endif							/* ZBXHIST_STATISTICS_H */
