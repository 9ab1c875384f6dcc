/*-------------------------------------------------------------------------
 *
 * day_times.c
 *	  Reads the clocks and ns that segments of a packed day share.
 *
 * A vector is read when the first segment that refers to it is decoded, and kept for the
 * next segments: items with the same times mostly follow each other.  The vector is found
 * by the index scan that has found the segment's group, if the scan's owner does not need
 * it any more.
 *
 * Locks: the caller has locked the day's table.  If another scan of the index has to be
 * begun, the index is locked here until the times are moved to another day or ended.
 * Memory: a context of its own below the one that is current when they begin.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "packed/day.h"
#include "packed/day_index.h"
#include "tables/attempt.h"
#include "tables/index_next.h"

/* vectors that are kept */
#define NUM_KEPT 8

/* a vector that has been read */
typedef struct KeptTimes
{
	uint64		number;			/* 0: none */
	int			ntimes;
	int			max_times;		/* that the arrays have room for */
	int64	   *clocks;
	int64	   *ns;
} KeptTimes;

struct DayTimes
{
	TimesSource source;			/* must be the first */
	Relation	day;
	Snapshot	snapshot;
	bool		is_careful;		/* damage raises no error */

	/* index scan that has found the group; lent by its owner */
	IndexScanDesc lent;			/* for its index, at least */
	bool		is_idle;		/* not in use, can be restarted */

	/* opened when they are needed */
	Relation	index;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	int64		distance;		/* of vectors found so far, from their rows'
								 * first, at most */
	GroupKeys	keys;

	KeptTimes	kept[NUM_KEPT];
	int			oldest;			/* the vector to be replaced next */
	KeptTimes  *reading;
	MemoryContext context;		/* owns all this */
	MemoryContext row_context;	/* reset with each row of the table */
};

/* ---- a row of the table ---- */

/*
 * AddVectorRows adds the rows of a decoded segment to the vector that is being
 * read.
 */
static void
AddVectorRows(DayTimes *times, const SegmentRows *rows)
{
	KeptTimes  *kept = times->reading;
	int			ntimes = kept->ntimes + rows->nrows;

	if (ntimes > kept->max_times)
	{
		kept->max_times = ntimes;
		kept->clocks = repalloc_huge(kept->clocks, sizeof(int64) * ntimes);
		kept->ns = repalloc_huge(kept->ns, sizeof(int64) * ntimes);
	}
	memcpy(kept->clocks + kept->ntimes, rows->columns[0].ints,
		   sizeof(int64) * rows->nrows);
	memcpy(kept->ns + kept->ntimes, rows->columns[1].ints,
		   sizeof(int64) * rows->nrows);
	kept->ntimes = ntimes;
}

/*
 * AddVectorSegments adds the row's segments of a vector; returns false if the row is
 * damaged.
 */
static bool
AddVectorSegments(DayTimes *times, uint64 number)
{
	int64		itemid = TIMES_ITEM + (int64) number;
	MemoryContext old;
	struct varlena *payload = (struct varlena *)
		DatumGetPointer(times->slot->tts_values[DAY_ATTNUM_PAYLOAD - 1]);
	GroupReader reader;
	bool		result;

	if (times->row_context == NULL)
		times->row_context = AllocSetContextCreate(times->context,
												   "zbxhist shared times",
												   ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(times->row_context);
	payload = pg_detoast_datum_packed(payload);
	result = ZbxhistOpenTimes(&reader, (uint8 *) VARDATA_ANY(payload),
							  VARSIZE_ANY_EXHDR(payload), &itemid) &&
		reader.nsegments > 0;
	for (int i = 0; result && i < reader.nsegments; i++)
	{
		SegmentRows rows;

		result = ZbxhistDecodeSegment(&reader, i, NULL, &rows) &&
			rows.columns[1].kind == PACKED_INT && rows.columns[1].nulls == NULL;
		if (result)
			AddVectorRows(times, &rows);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(times->row_context);
	return result;
}

/*
 * ReadRow reads the place of the row in the slot; returns false if the row is
 * damaged.
 */
static bool
ReadRow(const DayTimes *times, DayGroup *place)
{
	CHECK_FOR_INTERRUPTS();
	return ZbxhistReadPlace(times->slot, place) &&
		ZbxhistHasPayload(times->day, times->slot);
}

/*
 * NextVectorRow puts the next row with vectors into the slot and reads its
 * place; returns false at the end of the scan.
 */
static bool
NextVectorRow(DayTimes *times, IndexScanDesc scan, ScanDirection direction,
			  DayGroup *place)
{
	while (index_next(scan, direction, times->slot))
	{
		if (!ReadRow(times, place))
			return false;
		if (ZbxhistHoldsTimes(place))
			return true;
	}
	return false;
}

/* ---- a vector ---- */

/*
 * GetIndexScan returns the index scan by which vectors are found.
 */
static IndexScanDesc
GetIndexScan(DayTimes *times)
{
	MemoryContext old;

	if (times->lent != NULL && times->is_idle)
		return times->lent;
	if (times->scan != NULL)
		return times->scan;
	old = MemoryContextSwitchTo(times->context);
	if (times->lent == NULL)
		times->index = ZbxhistOpenGroupIndex(times->day);
	times->scan = index_beginscan_compat(times->day, times->lent == NULL ?
										 times->index :
										 times->lent->indexRelation,
										 times->snapshot, NUM_GROUP_KEYS);
	MemoryContextSwitchTo(old);
	return times->scan;
}

/*
 * CloseVectorScans ends what has been begun in the day.
 */
static void
CloseVectorScans(DayTimes *times)
{
	if (times->slot != NULL)
		ExecClearTuple(times->slot);
	if (times->scan != NULL)
		index_endscan(times->scan);
	if (times->index != NULL)
		index_close(times->index, AccessShareLock);
	times->scan = NULL;
	times->index = NULL;
}

/*
 * ZbxhistEndDayTimes closes everything; memory is freed with the context.
 */
void
ZbxhistEndDayTimes(DayTimes *times)
{
	CloseVectorScans(times);
	if (times->slot != NULL)
		ExecDropSingleTupleTableSlot(times->slot);
	times->slot = NULL;
}

/*
 * FindByIndex puts the row with a vector's beginning into the slot: the last row that
 * does not begin after the vector and is not a continuation of one.  Sets *nrests to the
 * number of continuations after it.  The search begins at rows of a given number, because
 * a scan reads all entries of an index page that are in its bounds.  Returns false if
 * there is none.
 */
static bool
FindByIndex(DayTimes *times, IndexScanDesc scan, int64 itemid, int64 from,
			int *nrests)
{
	DayGroup	place;

	ZbxhistStartGroupScan(scan, &times->keys, BTGreaterEqualStrategyNumber,
						  from, PG_INT32_MIN, itemid, PG_INT32_MAX);
	*nrests = -1;
	do
	{
		if (!NextVectorRow(times, scan, BackwardScanDirection, &place))
			return false;
		(*nrests)++;
	} while (place.first_itemid == itemid && place.first_clock > TIMES_CLOCK);
	times->distance = Max(times->distance, itemid - place.first_itemid);
	return true;
}

/*
 * ReadByIndex reads a vector, which probably is not farther from the beginning
 * of its row than others have been.  Returns false if its beginning is damaged.
 */
static bool
ReadByIndex(DayTimes *times, uint64 number)
{
	IndexScanDesc scan = GetIndexScan(times);
	int64		itemid = TIMES_ITEM + (int64) number;
	int64		from = Max(itemid - times->distance, TIMES_ITEM);
	int			nrests;
	DayGroup	place;

	if ((!FindByIndex(times, scan, itemid, from, &nrests) &&
		 !FindByIndex(times, scan, itemid, TIMES_ITEM, &nrests)) ||
		!AddVectorSegments(times, number))
		return false;
	while (nrests-- > 0 &&
		   NextVectorRow(times, scan, ForwardScanDirection, &place) &&
		   AddVectorSegments(times, number))
		;
	return true;
}

/*
 * ReadVector reads a vector; returns false if it is damaged.
 */
static bool
ReadVector(DayTimes *times, uint64 number)
{
	bool		result;

	if (times->slot == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(times->context);

		times->slot = table_slot_create(times->day, NULL);
		MemoryContextSwitchTo(old);
	}
	result = ReadByIndex(times, number);
	ExecClearTuple(times->slot);
	return result;
}

/* the arguments and the result of ReadAndClose */
typedef struct CarefulRead
{
	DayTimes   *times;
	uint64		number;
	bool		result;
} CarefulRead;

/*
 * ReadAndClose reads a vector and closes everything.
 */
static void
ReadAndClose(void *arg)
{
	CarefulRead *read = arg;

	read->result = ReadVector(read->times, read->number);
	ZbxhistEndDayTimes(read->times);
}

/*
 * ReadCarefully reads a vector; returns false if that raises an error.
 */
static bool
ReadCarefully(DayTimes *times, uint64 number)
{
	CarefulRead read = {times, number, false};
	char	   *error;

	if (!ZbxhistTry(ReadAndClose, &read, ZbxhistIsIndexDamage, &error))
	{
		/* the subtransaction has closed its relations and scans */
		times->scan = NULL;
		times->index = NULL;
		times->slot = NULL;
		return false;
	}
	return read.result;
}

/*
 * FindTimes finds a vector among those that are kept, or reads it; returns false
 * if it is damaged.
 */
static bool
FindTimes(TimesSource *source, uint64 number, SharedTimes *shared)
{
	DayTimes   *times = (DayTimes *) source;
	KeptTimes  *kept = NULL;

	if (number == 0 || number > TIMES_MAX_NUMBER)
		return false;
	for (int i = 0; kept == NULL && i < NUM_KEPT; i++)
	{
		if (times->kept[i].number == number)
			kept = &times->kept[i];
	}
	if (kept == NULL)
	{
		kept = times->reading = &times->kept[times->oldest];
		times->oldest = (times->oldest + 1) % NUM_KEPT;
		kept->number = 0;
		kept->ntimes = 0;
		if (kept->clocks == NULL)
		{
			kept->clocks = MemoryContextAlloc(times->context, sizeof(int64));
			kept->ns = MemoryContextAlloc(times->context, sizeof(int64));
			kept->max_times = 1;
		}
		if (!(times->is_careful ? ReadCarefully(times, number) :
			  ReadVector(times, number)))
			return false;
		kept->number = number;
	}
	shared->number = number;
	shared->ntimes = kept->ntimes;
	shared->clocks = kept->clocks;
	shared->ns = kept->ns;
	return true;
}

/* ---- a damaged day ---- */

/*
 * WhyNotVector returns what is wrong with a segment of a group of vectors, NULL
 * if nothing is.  Allocates in the current context.
 */
static const char *
WhyNotVector(const GroupReader *reader, int segment)
{
	const SegmentInfo *info = &reader->segments[segment];
	SegmentRows rows;

	if (!ZbxhistIsPlaceOfTimes(info->itemid, TIMES_CLOCK))
		return "wrong number";
	if (!ZbxhistCheckSegment(reader, segment))
		return "wrong checksum";
	return ZbxhistDecodeSegment(reader, segment, NULL, &rows) &&
		rows.columns[1].kind == PACKED_INT && rows.columns[1].nulls == NULL ?
		NULL : "cannot be decoded";
}

/*
 * ZbxhistWhyNotTimes returns what is wrong with a row of shared times, whose
 * place has been read, and its bytes; NULL if nothing is.  Allocates in the
 * current context.
 */
const char *
ZbxhistWhyNotTimes(const DayGroup *place, const uint8 *data, size_t length)
{
	GroupReader reader;

	if (!ZbxhistOpenTimes(&reader, data, length, NULL))
		return ZbxhistWhyNotOpened(&reader);
	if (reader.first_itemid != place->first_itemid ||
		reader.last_itemid != place->last_itemid ||
		!ZbxhistIsPlaceOfTimes(place->first_itemid, place->first_clock))
		return "the row does not agree with the directory";
	for (int i = 0; i < reader.nsegments; i++)
	{
		const char *problem = WhyNotVector(&reader, i);

		if (problem != NULL)
			return psprintf("times " INT64_FORMAT ": %s",
							reader.segments[i].itemid - TIMES_ITEM, problem);
	}
	return NULL;
}

/* ---- life of a source of times ---- */

/*
 * ZbxhistBeginDayTimes prepares for finding the shared times of a day, which
 * must stay open, and the snapshot registered, until they are ended.  Where it
 * is careful, it raises no error for what is damaged.
 */
DayTimes *
ZbxhistBeginDayTimes(Relation day, Snapshot snapshot, bool is_careful)
{
	DayTimes   *times = palloc0(sizeof(DayTimes));

	times->source.find = FindTimes;
	times->day = day;
	times->snapshot = snapshot;
	times->is_careful = is_careful;
	times->context = CurrentMemoryContext;
	return times;
}

/*
 * ZbxhistLendScan lends the index scan that has found the group, or NULL.  If the scan
 * is idle it may be started anew, else only its index is used.  It stays lent until the
 * next call, or until the times are moved or ended.
 */
void
ZbxhistLendScan(DayTimes *times, IndexScanDesc scan, bool is_idle)
{
	times->lent = scan;
	times->is_idle = is_idle;
}

/*
 * ZbxhistMoveDayTimes makes the times those of another day that has the same
 * columns.
 */
void
ZbxhistMoveDayTimes(DayTimes *times, Relation day)
{
	CloseVectorScans(times);
	if (times->slot != NULL && times->slot->tts_ops != table_slot_callbacks(day))
		ZbxhistEndDayTimes(times);
	ZbxhistLendScan(times, NULL, false);
	times->day = day;
	for (int i = 0; i < NUM_KEPT; i++)
		times->kept[i].number = 0;
}

/*
 * ZbxhistTimesSource returns the source of shared times for readers of groups.
 */
TimesSource *
ZbxhistTimesSource(DayTimes *times)
{
	return &times->source;
}
