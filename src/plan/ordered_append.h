/*-------------------------------------------------------------------------
 *
 * ordered_append.h
 *	  Reads partitions one after the other where their order is wanted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ORDERED_APPEND_H
#define ZBXHIST_ORDERED_APPEND_H

#include "access/attnum.h"
#include "nodes/parsenodes.h"

extern void ZbxhistMarkOrdered(RangeTblEntry *rte, List *tables,
							   AttrNumber clock_attnum);
extern void ZbxhistOrderedAppendInit(void);

#endif							/* ZBXHIST_ORDERED_APPEND_H */
