/*-------------------------------------------------------------------------
 *
 * run_insert.h
 *	  Stores rows of a statement as runs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_INSERT_H
#define ZBXHIST_RUN_INSERT_H

#include "executor/tuptable.h"
#include "utils/relcache.h"

extern bool ZbxhistInsertRuns(Relation parent, Relation runs,
							  TupleTableSlot **slots, int nslots,
							  CommandId cid);

#endif							/* ZBXHIST_RUN_INSERT_H */
