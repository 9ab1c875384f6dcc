/*-------------------------------------------------------------------------
 *
 * select.h
 *	  Plans a SELECT for those children of a parent that have its clocks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SELECT_H
#define ZBXHIST_SELECT_H

#include "nodes/parsenodes.h"

extern Query *ZbxhistNarrowSelect(Query *query, List **parents);
extern void ZbxhistSelectInit(void);

#endif							/* ZBXHIST_SELECT_H */
