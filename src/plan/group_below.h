/*-------------------------------------------------------------------------
 *
 * group_below.h
 *	  Aggregates in two steps, of which the first is by item.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_GROUP_BELOW_H
#define ZBXHIST_GROUP_BELOW_H

#include "nodes/parsenodes.h"

extern void ZbxhistGroupBelow(Query *query);

#endif							/* ZBXHIST_GROUP_BELOW_H */
