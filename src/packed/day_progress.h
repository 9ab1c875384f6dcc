/*-------------------------------------------------------------------------
 *
 * day_progress.h
 *	  Reports the progress of reading or unpacking a packed day.
 *
 * It is reported as the progress of a COPY of the day's table, with a command number that
 * COPY does not use.  The view zbxhist.progress reads it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_PROGRESS_H
#define ZBXHIST_DAY_PROGRESS_H

#include "commands/progress.h"
#include "storage/block.h"
#include "utils/backend_progress.h"

/* what is done; numbers as in sql/views.sql */
typedef enum DayJob
{
	DAY_JOB_VERIFY = 101,
	DAY_JOB_UNPACK = 102,
	DAY_JOB_SALVAGE = 103
} DayJob;

/*
 * note_day_progress says that all blocks before one have been read, and rows.
 * A subtransaction that failed has ended what was said before.
 */
static inline void
note_day_progress(Oid day, DayJob job, BlockNumber block, BlockNumber nblocks,
				  int64 nrows)
{
	const int	params[] = {
		PROGRESS_COPY_COMMAND, PROGRESS_COPY_BYTES_TOTAL,
		PROGRESS_COPY_BYTES_PROCESSED, PROGRESS_COPY_TUPLES_PROCESSED
	};
	const int64 values[] = {
		job, (int64) nblocks * BLCKSZ, (int64) block * BLCKSZ, nrows
	};

	pgstat_progress_start_command(PROGRESS_COMMAND_COPY, day);
	pgstat_progress_update_multi_param(lengthof(params), params, values);
}

#endif							/* ZBXHIST_DAY_PROGRESS_H */
