/*-------------------------------------------------------------------------
 *
 * day_found.c
 *	  What a scan of a day's table says besides the group found last.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"

#include "packed/day/day_private.h"

/*
 * ZbxhistDayScanNumRows returns how many rows of the table have been read when
 * the scan has found so many groups: runs, or these and rows that have shared
 * times.
 */
int64
ZbxhistDayScanNumRows(const DayScan *scan, int64 ngroups)
{
	return scan->runs != NULL ? ZbxhistNumRuns(scan->runs) :
		ngroups + scan->ntimes;
}

/*
 * ZbxhistDayScanTimes returns where segments that the scan has found have
 * their shared times from, as long as it stays.
 */
TimesSource *
ZbxhistDayScanTimes(const DayScan *scan)
{
	return ZbxhistTimesSource(scan->times);
}

/*
 * ZbxhistDayScanXmin returns the transaction that has stored the group found
 * last.
 */
TransactionId
ZbxhistDayScanXmin(DayScan *scan)
{
	bool		isnull;

	return DatumGetTransactionId(slot_getsysattr(scan->slot,
												 MinTransactionIdAttributeNumber,
												 &isnull));
}

/*
 * ZbxhistDayScanXmax returns the transaction that has deleted the group found
 * last, or is about to.
 */
TransactionId
ZbxhistDayScanXmax(DayScan *scan)
{
	return ZbxhistDeletedBy(scan->slot);
}

/*
 * ZbxhistDayScanXmaxOf does so for a row, by its number, of that group: rows of
 * runs each have their own.
 */
TransactionId
ZbxhistDayScanXmaxOf(DayScan *scan, int row)
{
	return scan->runs != NULL ? ZbxhistRunXmax(scan->runs, row) :
		ZbxhistDayScanXmax(scan);
}

/*
 * ZbxhistDayScanRun says where a row, by its number, of the group found last in
 * a table of runs is stored.
 */
void
ZbxhistDayScanRun(const DayScan *scan, int row, RunPlace *place)
{
	ZbxhistRunOfRow(scan->runs, row, place);
}
