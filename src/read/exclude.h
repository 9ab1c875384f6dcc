/*-------------------------------------------------------------------------
 *
 * exclude.h
 *	  Excludes partitions from a plan by comparing clocks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_EXCLUDE_H
#define ZBXHIST_EXCLUDE_H

#include "nodes/pathnodes.h"

extern void ZbxhistExcludeRelation(PlannerInfo *root, RelOptInfo *rel);

#endif							/* ZBXHIST_EXCLUDE_H */
