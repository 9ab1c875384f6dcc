/*-------------------------------------------------------------------------
 *
 * run_merger.h
 *	  Starts the worker that merges runs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_MERGER_H
#define ZBXHIST_RUN_MERGER_H

#include "utils/relcache.h"

extern void ZbxhistNoteRuns(Relation runs, int nruns);

#endif							/* ZBXHIST_RUN_MERGER_H */
