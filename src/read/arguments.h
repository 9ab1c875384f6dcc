/*-------------------------------------------------------------------------
 *
 * arguments.h
 *	  Arguments that several SQL functions have.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ARGUMENTS_H
#define ZBXHIST_ARGUMENTS_H

#include "fmgr.h"

extern int	ZbxhistGetWord(FunctionCallInfo fcinfo, int argument,
						   const char *name, const char *const *words);
extern bool ZbxhistGetSort(FunctionCallInfo fcinfo, int argument);
extern uint64 ZbxhistToLimit(const char *name, bool isnull, int64 value);

#endif							/* ZBXHIST_ARGUMENTS_H */
