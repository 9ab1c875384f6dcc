/*-------------------------------------------------------------------------
 *
 * exclude.h
 *	  Leaves partitions out of a plan by arithmetic.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_EXCLUDE_H
#define ZBXHIST_EXCLUDE_H

#include "nodes/pathnodes.h"

extern void ZbxhistExcludeRelation(PlannerInfo *root, RelOptInfo *rel);

#endif							/* ZBXHIST_EXCLUDE_H */
