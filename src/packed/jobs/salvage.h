/*-------------------------------------------------------------------------
 *
 * salvage.h
 *	  Keeps what can be read of a damaged day.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SALVAGE_H
#define ZBXHIST_SALVAGE_H

#include "funcapi.h"
#include "packed/day/day_damage.h"

/* values that cannot be read */
typedef struct Loss
{
	bool		has_begin;		/* else it is not known which they are */
	int64		first_itemid;
	int32		first_clock;
	bool		has_end;		/* else they end somewhere before last_ */
	int64		last_itemid;
	int32		last_clock;
	int64		nrows;			/* -1: not known */
	const char *problem;
} Loss;

/* where to tell of them */
typedef struct LossReport
{
	ReturnSetInfo *rsinfo;
	Loss		last;			/* may grow yet */
	bool		has_last;
	const char *bytes;			/* what the values are in, not told of yet */
	size_t		length;
} LossReport;

/* salvage_report.c */
extern void ZbxhistReportLoss(LossReport *report, const Loss *loss);
extern void ZbxhistReportKept(LossReport *report, int64 nrows);
extern void ZbxhistEndReport(LossReport *report);

/* salvage_blocks.c */
extern void ZbxhistReportBlocks(LossReport *report, Relation day,
								List *blocks, DayGroup *readable,
								int nreadable);

#endif							/* ZBXHIST_SALVAGE_H */
