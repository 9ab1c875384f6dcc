/*-------------------------------------------------------------------------
 *
 * day_times.c
 *	  Finds the clocks and ns that segments of a packed day share.
 *
 * A vector is read when the first segment that refers to it is decoded, and
 * kept for the next ones: items with the same times mostly follow each other.
 *
 * Locks: the caller has locked the day's table; the index is locked here until
 * the times are moved or ended.  What is read is in a context of their own
 * below the current one when they begin.
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
#include "packed/day/day_damage.h"
#include "packed/day/day_index.h"

/* vectors that are kept */
#define NUM_KEPT 8

/* comparisons with where rows begin: two bounds */
#define NUM_KEYS 2

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

	/* opened when they are needed */
	Relation	index;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	ScanKeyData keys[NUM_KEYS];
	ScanKeyData members[NUM_KEYS][2];	/* of the keys, which compare rows */

	KeptTimes	kept[NUM_KEPT];
	int			oldest;			/* the one to be replaced next */
	KeptTimes  *reading;
	MemoryContext context;		/* owns all this */
	MemoryContext row_context;	/* reset with each row of the table */
};

/* ---- a row of the table ---- */

/*
 * StartScan starts the scan of rows whose beginning is from or after a place
 * up to another one, which may be excluded and included.
 */
static void
StartScan(DayTimes *times, StrategyNumber strategy, int64 from_item,
		  int32 from_clock, int64 to_item, int32 to_clock)
{
	ZbxhistInitGroupKey(&times->keys[0], times->members[0], strategy,
						from_item, from_clock);
	ZbxhistInitGroupKey(&times->keys[1], times->members[1],
						BTLessEqualStrategyNumber, to_item, to_clock);
	index_rescan(times->scan, times->keys, NUM_KEYS, NULL, 0);
}

/*
 * AddRows adds the rows of a decoded segment to the vector that is being read.
 */
static void
AddRows(DayTimes *times, const SegmentRows *rows)
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
 * AddSegments adds what the row in the slot has of a vector; *is_last is
 * cleared if more may follow in the next row.  Returns false if the row is
 * damaged.
 */
static bool
AddSegments(DayTimes *times, uint64 number, bool *is_last)
{
	int64		itemid = TIMES_ITEM + (int64) number;
	MemoryContext old = MemoryContextSwitchTo(times->row_context);
	struct varlena *payload = pg_detoast_datum_packed((struct varlena *)
													  DatumGetPointer(times->slot->tts_values[DAY_ATTNUM_PAYLOAD - 1]));
	GroupReader reader;
	bool		result;

	result = ZbxhistOpenTimes(&reader, (uint8 *) VARDATA_ANY(payload),
							  VARSIZE_ANY_EXHDR(payload), &itemid) &&
		reader.nsegments > 0;
	for (int i = 0; result && i < reader.nsegments; i++)
	{
		SegmentRows rows;

		result = ZbxhistDecodeSegment(&reader, i, NULL, &rows) &&
			rows.columns[1].kind == PACKED_INT && rows.columns[1].nulls == NULL;
		if (result)
			AddRows(times, &rows);
	}
	*is_last = result && reader.last_itemid != itemid;
	MemoryContextSwitchTo(old);
	MemoryContextReset(times->row_context);
	return result;
}

/*
 * NextRow puts the next row with vectors into the slot; returns false at the
 * end of the scan.
 */
static bool
NextRow(DayTimes *times, ScanDirection direction)
{
	DayGroup	place;

	while (index_getnext_slot(times->scan, direction, times->slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (!ZbxhistReadPlace(times->slot, &place) ||
			!ZbxhistHasPayload(times->day, times->slot))
			return false;
		if (ZbxhistHoldsTimes(&place))
			return true;
	}
	return false;
}

/* ---- a vector ---- */

/*
 * Open opens what vectors are found by.
 */
static void
Open(DayTimes *times)
{
	MemoryContext old = MemoryContextSwitchTo(times->context);

	times->index = ZbxhistOpenGroupIndex(times->day, AccessShareLock);
	times->scan = index_beginscan_compat(times->day, times->index,
										 times->snapshot, NUM_KEYS);
	times->slot = table_slot_create(times->day, NULL);
	MemoryContextSwitchTo(old);
}

/*
 * Close is the reverse of Open, if that has been called.
 */
static void
Close(DayTimes *times)
{
	if (times->scan == NULL)
		return;
	ExecDropSingleTupleTableSlot(times->slot);
	index_endscan(times->scan);
	index_close(times->index, AccessShareLock);
	times->scan = NULL;
}

/*
 * ReadVector reads a vector: what has its beginning is the last row that does
 * not begin after that.  Returns false if it is damaged.
 */
static bool
ReadVector(DayTimes *times, uint64 number)
{
	int64		itemid = TIMES_ITEM + (int64) number;
	bool		is_last;
	bool		result;

	if (times->scan == NULL)
		Open(times);
	if (times->row_context == NULL)
		times->row_context = AllocSetContextCreate(times->context,
												   "zbxhist shared times",
												   ALLOCSET_DEFAULT_SIZES);
	StartScan(times, BTGreaterEqualStrategyNumber, TIMES_ITEM, PG_INT32_MIN,
			  itemid, TIMES_CLOCK);
	if (!NextRow(times, BackwardScanDirection) ||
		!AddSegments(times, number, &is_last))
		return false;
	if (is_last)
		return true;
	StartScan(times, BTGreaterStrategyNumber, itemid, TIMES_CLOCK, itemid,
			  PG_INT32_MAX);
	do
	{
		result = NextRow(times, ForwardScanDirection);
	} while (result && AddSegments(times, number, &is_last) && !is_last);
	return true;
}

/*
 * Find finds a vector among those that are kept, or reads it; returns false if
 * it is damaged.
 */
static bool
Find(TimesSource *source, uint64 number, SharedTimes *shared,
	 bool (*read) (DayTimes *times, uint64 number))
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
		if (!read(times, number))
			return false;
		kept->number = number;
	}
	shared->number = number;
	shared->ntimes = kept->ntimes;
	shared->clocks = kept->clocks;
	shared->ns = kept->ns;
	return true;
}

/*
 * FindTimes finds a vector; errors that come from reading are raised.
 */
static bool
FindTimes(TimesSource *source, uint64 number, SharedTimes *shared)
{
	return Find(source, number, shared, ReadVector);
}

/* ---- a damaged day ---- */

/* the arguments and the result of ReadAndClose */
typedef struct CarefulRead
{
	DayTimes   *times;
	uint64		number;
	bool		result;
} CarefulRead;

/*
 * ReadAndClose reads a vector and leaves nothing open.
 */
static void
ReadAndClose(void *arg)
{
	CarefulRead *read = arg;

	read->result = ReadVector(read->times, read->number);
	Close(read->times);
}

/*
 * IsAnyDamage says whether an error comes from a damaged table or index.
 */
static bool
IsAnyDamage(int sqlerrcode)
{
	return ZbxhistIsDamage(sqlerrcode) ||
		sqlerrcode == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
}

/*
 * ReadCarefully reads a vector; returns false if that raises an error.
 */
static bool
ReadCarefully(DayTimes *times, uint64 number)
{
	CarefulRead read = {times, number, false};
	char	   *error;

	if (!ZbxhistTry(ReadAndClose, &read, IsAnyDamage, &error))
	{
		/* the subtransaction has closed what was open */
		times->scan = NULL;
		return false;
	}
	return read.result;
}

/*
 * FindCarefully finds a vector; what cannot be read is as good as damaged.
 */
static bool
FindCarefully(TimesSource *source, uint64 number, SharedTimes *shared)
{
	return Find(source, number, shared, ReadCarefully);
}

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
 * must stay open, and the snapshot registered, until they are ended.
 */
DayTimes *
ZbxhistBeginDayTimes(Relation day, Snapshot snapshot)
{
	DayTimes   *times = palloc0(sizeof(DayTimes));

	times->source.find = FindTimes;
	times->day = day;
	times->snapshot = snapshot;
	times->context = CurrentMemoryContext;
	return times;
}

/*
 * ZbxhistBeginCarefulTimes does the same where errors must not be raised.
 */
DayTimes *
ZbxhistBeginCarefulTimes(Relation day, Snapshot snapshot)
{
	DayTimes   *times = ZbxhistBeginDayTimes(day, snapshot);

	times->source.find = FindCarefully;
	return times;
}

/*
 * ZbxhistMoveDayTimes makes the times those of another day.
 */
void
ZbxhistMoveDayTimes(DayTimes *times, Relation day)
{
	Close(times);
	times->day = day;
	for (int i = 0; i < NUM_KEPT; i++)
		times->kept[i].number = 0;
}

/*
 * ZbxhistEndDayTimes closes what is open; memory goes with the context.
 */
void
ZbxhistEndDayTimes(DayTimes *times)
{
	Close(times);
}

/*
 * ZbxhistTimesSource returns what readers of groups are given.
 */
TimesSource *
ZbxhistTimesSource(DayTimes *times)
{
	return &times->source;
}
