/*-------------------------------------------------------------------------
 *
 * run_modify.h
 *	  Changes rows in runs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_MODIFY_H
#define ZBXHIST_RUN_MODIFY_H

#include "packed/changes/day_modify.h"

extern void ZbxhistApplyToRuns(DayModify *modify);
extern uint64 ZbxhistDeleteFromRuns(DayModify *modify,
									const ItemRange *range);

#endif							/* ZBXHIST_RUN_MODIFY_H */
