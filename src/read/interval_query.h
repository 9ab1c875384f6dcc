/*-------------------------------------------------------------------------
 *
 * interval_query.h
 *	  Recognises joins for the first or last rows of intervals.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_INTERVAL_QUERY_H
#define ZBXHIST_INTERVAL_QUERY_H

#include "nodes/parsenodes.h"

extern void ZbxhistTakeIntervals(Query *query);

#endif							/* ZBXHIST_INTERVAL_QUERY_H */
