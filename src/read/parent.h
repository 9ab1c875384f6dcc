/*-------------------------------------------------------------------------
 *
 * parent.h
 *	  A parent opened for one of the functions that read or change it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_READ_PARENT_H
#define ZBXHIST_READ_PARENT_H

#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"

extern Oid	ZbxhistRowTypeParent(FunctionCallInfo fcinfo);
extern Relation ZbxhistOpenParent(Oid relid, LOCKMODE lockmode,
								  AclMode privilege);
extern int	ZbxhistGetWord(FunctionCallInfo fcinfo, int argument,
						   const char *name, const char *const *words);
extern uint64 ZbxhistToLimit(const char *name, bool isnull, int64 value);

#endif							/* ZBXHIST_READ_PARENT_H */
