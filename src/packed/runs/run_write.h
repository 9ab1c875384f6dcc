/*-------------------------------------------------------------------------
 *
 * run_write.h
 *	  Writes runs into the table of an hour.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_WRITE_H
#define ZBXHIST_RUN_WRITE_H

#include "storage/itemptr.h"
#include "utils/relcache.h"

#include "packed/format/run.h"

/* a run that has been written */
typedef struct WrittenRun
{
	ItemPointerData tid;
	int			first;			/* of its rows, and their number */
	int			nrows;
} WrittenRun;

/*
 * is_written says whether the run at tid is one of those.
 */
static inline bool
is_written(const WrittenRun *runs, int nruns, const ItemPointerData *tid)
{
	for (int i = 0; i < nruns; i++)
	{
		if (ItemPointerEquals(unconstify(ItemPointerData *, &runs[i].tid),
							  unconstify(ItemPointerData *, tid)))
			return true;
	}
	return false;
}

extern int	ZbxhistWriteRuns(Relation runs, int64 batch, const RunRows *rows,
							 double *row_bytes, CommandId cid,
							 WrittenRun **written);

#endif							/* ZBXHIST_RUN_WRITE_H */
