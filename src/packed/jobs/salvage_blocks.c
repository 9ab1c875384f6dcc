/*-------------------------------------------------------------------------
 *
 * salvage_blocks.c
 *	  What was in pages that cannot be read, or have lost their rows.
 *
 * The index of a day's table tells where the groups in them begin.  It tells
 * also of groups that have been written anew since, elsewhere: what is within
 * one that can be read is not lost.  Where a group ends nobody knows but that
 * it is before the next one begins.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "binary_search.h"
#include "packed/jobs/salvage.h"

/*
 * BeginsAfter says whether a group begins after a place.
 */
static bool
BeginsAfter(const DayGroup *group, const LostGroup *begin)
{
	return compare_places(group->first_itemid, group->first_clock,
						  begin->itemid, begin->clock) > 0;
}

/*
 * FindNext returns the number of the first group, of those that can be read,
 * that begins after a place.
 */
static int
FindNext(const DayGroup *readable, int nreadable, const LostGroup *begin)
{
	int			i;

	find_first(i, nreadable, BeginsAfter(&readable[i], begin));
	return i;
}

/*
 * IsWithin says whether a place is within a group.
 */
static bool
IsWithin(const DayGroup *group, const LostGroup *begin)
{
	return compare_places(begin->itemid, begin->clock, group->last_itemid,
						  group->last_clock) <= 0;
}

/*
 * EndBefore makes a loss end where another group begins, if that is earlier.
 */
static void
EndBefore(Loss *loss, int64 itemid, int32 clock)
{
	if (compare_places(itemid, clock, loss->last_itemid,
					   loss->last_clock) >= 0)
		return;
	loss->last_itemid = itemid;
	loss->last_clock = clock;
}

/*
 * MakeLoss makes the loss of the group that begins at the number-th place of
 * lost; returns false if it can be read elsewhere, or is there again.
 */
static bool
MakeLoss(const List *lost, int number, const DayGroup *readable,
		 int nreadable, Loss *loss)
{
	const LostGroup *begin = list_nth(lost, number);
	const LostGroup *after = number + 1 < list_length(lost) ?
		list_nth(lost, number + 1) : NULL;
	int			next = FindNext(readable, nreadable, begin);

	if (next > 0 && IsWithin(&readable[next - 1], begin))
		return false;
	/* an older version of the same group */
	if (after != NULL && after->itemid == begin->itemid &&
		after->clock == begin->clock)
		return false;
	memset(loss, 0, sizeof(*loss));
	/* what shares these times tells which values are lost */
	if (ZbxhistIsPlaceOfTimes(begin->itemid, begin->clock))
		return true;
	loss->has_begin = true;
	loss->first_itemid = begin->itemid;
	loss->first_clock = begin->clock;
	loss->last_itemid = PG_INT64_MAX;
	loss->last_clock = PG_INT32_MAX;
	loss->nrows = -1;
	if (next < nreadable)
		EndBefore(loss, readable[next].first_itemid,
				  readable[next].first_clock);
	if (after != NULL)
		EndBefore(loss, after->itemid, after->clock);
	return true;
}

/*
 * BeginBlock begins to tell of a block: its bytes go with the first loss.
 */
static void
BeginBlock(LossReport *report, Relation day, BlockNumber number)
{
	ZbxhistEndReport(report);
	report->bytes = ZbxhistReadRawBlock(day, number);
	report->length = BLCKSZ;
}

/*
 * ReportUnknown tells of blocks of which nothing is known but that they cannot
 * be read.
 */
static void
ReportUnknown(LossReport *report, Relation day, List *blocks)
{
	Loss		loss = {.nrows = -1};
	ListCell   *lc;

	foreach(lc, blocks)
	{
		const LostBlock *block = lfirst(lc);

		BeginBlock(report, day, block->number);
		loss.problem = psprintf("page %u: %s", block->number, block->error);
		ZbxhistReportLoss(report, &loss);
	}
}

/*
 * ZbxhistReportBlocks tells of what was in blocks that cannot be read and of
 * what the index has besides, by the groups that can be read; sorts these.
 */
void
ZbxhistReportBlocks(LossReport *report, Relation day, List *blocks,
					DayGroup *readable, int nreadable)
{
	BlockNumber last = InvalidBlockNumber;
	List	   *lost;
	Loss		loss;
	char	   *error;

	if (!ZbxhistFindLostGroups(day, blocks, &lost, &error))
	{
		ReportUnknown(report, day, blocks);
		lost = NIL;
	}
	qsort(readable, nreadable, sizeof(DayGroup), ZbxhistCompareGroups);
	for (int i = 0; i < list_length(lost); i++)
	{
		BlockNumber number = ((const LostGroup *) list_nth(lost, i))->block;
		const LostBlock *block = ZbxhistFindLostBlock(blocks, number);

		if (!MakeLoss(lost, i, readable, nreadable, &loss))
			continue;
		if (number != last)
			BeginBlock(report, day, number);
		last = number;
		loss.problem = psprintf("page %u: %s", number, block != NULL ?
								block->error : "rows are missing");
		ZbxhistReportLoss(report, &loss);
	}
	ZbxhistEndReport(report);
}
