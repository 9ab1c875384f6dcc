/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  The rows of all packed days of a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_PACKED_SCAN_H
#define ZBXHIST_PACKED_SCAN_H

#include "port/atomics.h"

#include "format/row_offset.h"
#include "packed/open_days.h"

/* which rows are asked for */
typedef struct ScanBounds
{
	int			nitems;
	const int64 *items;			/* sorted, each once; NULL: all items between
								 * these two */
	int64		from_item;		/* included */
	int64		to_item;		/* included */
	int64		from_item_clock;	/* of from_item's rows, included */
	int64		to_item_clock;	/* of to_item's rows, included */
	int64		from_clock;		/* included */
	int64		to_clock;		/* included */
	bool		is_descending;	/* newest first; with one item */
	int			ntids;
	const int64 *tids;			/* of rows, see make_packed_tid; sorted, each
								 * once; NULL: all rows */
} ScanBounds;

/*
 * clocks_of_bounds returns the range of clocks that bounds allow.
 */
static inline ClockRange
clocks_of_bounds(const ScanBounds *bounds)
{
	ClockRange	clocks = {
		.from_clock = Max(bounds->from_clock, ZBXHIST_CLOCK_MIN),
		.to_clock = Min(bounds->to_clock, ZBXHIST_CLOCK_END - 1) + 1
	};

	return clocks;
}

/*
 * packed_tid_clock returns the clock of such a number.
 */
static inline int32
packed_tid_clock(int64 tid)
{
	return (int32) ((uint64) tid >> 16);
}

/* the counters of a scan, as an array */
#define NUM_SCAN_COUNTERS (sizeof(ScanCounters) / sizeof(uint64))

/* ranges of clocks of a parallel scan, in shared memory */
typedef struct SharedDays
{
	pg_atomic_uint32 next;		/* the next range to be taken */
	pg_atomic_uint32 next_input;	/* the same of an aggregate's inputs of
									 * which one participant has all rows */
	pg_atomic_uint64 counters[NUM_SCAN_COUNTERS];	/* of those that have
													 * ended */
	int			nranges;
	ClockRange	ranges[FLEXIBLE_ARRAY_MEMBER];
} SharedDays;

typedef struct PackedScan
{
	OpenDays	open;			/* open.reader is the one of the present row */
	Relation	parent;			/* whose days they are */
	ScanBounds	bounds;
	ItemRange	range;			/* the same, of the current item, or all items */
	int			item;			/* index in bounds.items */

	int			nranges;		/* that are handed out */
	ClockRange *ranges;
	SharedDays *shared;			/* NULL: not a parallel scan */
	PartitionWalk walk;			/* walks over the days needed */
	WalkStep	day;			/* the current one */
	bool		has_started;

	MemoryContext context;		/* owns all this */
} PackedScan;

extern PackedScan *ZbxhistBeginPackedScan(Relation table, Oid parent,
										  Snapshot snapshot,
										  const bool *wanted,
										  bool wants_row_id);
extern void ZbxhistBoundsRange(const ScanBounds *bounds, ItemRange *range);
extern void ZbxhistStartPackedScan(PackedScan *scan,
								   const ScanBounds *bounds);
extern const SegmentInfo *ZbxhistPackedScanFind(PackedScan *scan);
extern bool ZbxhistPackedScanNextSegment(PackedScan *scan);
extern bool ZbxhistPackedScanHasTid(PackedScan *scan);
extern void ZbxhistEndPackedScan(PackedScan *scan);
extern Size ZbxhistSizeOfSharedDays(PackedScan *scan);
extern void ZbxhistShareDays(PackedScan *scan, SharedDays *shared);
extern void ZbxhistShareDaysAgain(SharedDays *shared);
extern void ZbxhistReportToLeader(PackedScan *scan);
extern void ZbxhistStopSharing(PackedScan *scan);

/*
 * packed_scan_next goes to the next row, which is the one of scan->open.reader;
 * returns false if there is none.  With tids, wants_row_id must be set.
 */
static inline bool
packed_scan_next(PackedScan *scan)
{
	do
	{
		if ((scan->open.reader == NULL || !day_reader_next(scan->open.reader)) &&
			!ZbxhistPackedScanNextSegment(scan))
			return false;
	} while (scan->bounds.tids != NULL && !ZbxhistPackedScanHasTid(scan));
	return true;
}

#endif							/* ZBXHIST_PACKED_SCAN_H */
