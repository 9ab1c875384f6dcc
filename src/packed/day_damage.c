/*-------------------------------------------------------------------------
 *
 * day_damage.c
 *	  Reads all that can be read of a damaged day's table.
 *
 * Each page is read in a subtransaction, so that a damaged page does not hide the
 * others.  Errors that do not come from damage, such as a cancel or a lack of memory,
 * are raised again.
 *
 * Locks are the caller's.  What is returned is in the context that is current
 * at the call.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/smgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "make_room.h"
#include "packed/archived_group.h"
#include "packed/day_damage.h"
#include "packed/day_index.h"
#include "tables/attempt.h"
#include "tables/item_range.h"

/* alignment of an I/O buffer */
#define IO_ALIGNMENT 4096

/* ---- a block ---- */

/* the arguments of ReadBlock */
typedef struct BlockRead
{
	Relation	day;
	Snapshot	snapshot;
	BlockNumber block;
	List	   *groups;
	MemoryContext context;		/* gets them */
} BlockRead;

/*
 * ReadBlock reads the rows of a block that the snapshot sees.
 */
static void
ReadBlock(void *arg)
{
	BlockRead  *read = arg;
	TupleTableSlot *slot = table_slot_create(read->day, NULL);
	TableScanDesc scan;
	ItemPointerData first;
	ItemPointerData last;

	ItemPointerSet(&first, read->block, FirstOffsetNumber);
	ItemPointerSet(&last, read->block, MaxOffsetNumber);
	scan = table_beginscan_tidrange_compat(read->day, read->snapshot, &first, &last);
	while (table_scan_getnextslot_tidrange(scan, ForwardScanDirection, slot))
	{
		MemoryContext old = MemoryContextSwitchTo(read->context);
		StoredGroup *stored = palloc0(sizeof(StoredGroup));

		stored->group.tid = slot->tts_tid;
		stored->has_place = ZbxhistReadPlace(slot, &stored->group);
		stored->is_times = stored->has_place &&
			ZbxhistHoldsTimes(&stored->group);
		if (stored->has_place && ZbxhistHasPayload(read->day, slot))
		{
			const char *payload =
				DatumGetPointer(slot->tts_values[DAY_ATTNUM_PAYLOAD - 1]);

			stored->payload = palloc(VARSIZE_ANY(payload));
			memcpy(stored->payload, payload, VARSIZE_ANY(payload));
		}
		read->groups = lappend(read->groups, stored);
		MemoryContextSwitchTo(old);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * ReadStored returns the rows of a block.  For a block that cannot be read it returns
 * one entry with the error, and adds the block to look->blocks.
 */
static List *
ReadStored(DayLook *look, BlockNumber number)
{
	BlockRead	read = {look->day, look->snapshot, number, NIL, CurrentMemoryContext};
	MemoryContext old;
	LostBlock  *block;
	StoredGroup *stored;
	char	   *error;

	if (ZbxhistTry(ReadBlock, &read, ZbxhistIsDamage, &error))
		return read.groups;
	old = MemoryContextSwitchTo(look->context);
	block = palloc(sizeof(LostBlock));
	block->number = number;
	block->error = pstrdup(error);
	look->blocks = lappend(look->blocks, block);
	MemoryContextSwitchTo(old);
	stored = palloc0(sizeof(StoredGroup));
	stored->lost = block->error;
	ItemPointerSet(&stored->group.tid, number, FirstOffsetNumber);
	return list_make1(stored);
}

/*
 * ReadFile reads a block from the file without checking it.
 */
static void
ReadFile(void *arg)
{
	BlockRead  *read = arg;
	char	   *room = palloc(BLCKSZ + IO_ALIGNMENT);
	char	   *buffer = (char *) TYPEALIGN(IO_ALIGNMENT, room);

	smgrread(RelationGetSmgr(read->day), MAIN_FORKNUM, read->block, buffer);
	read->groups = list_make1(buffer);
}

/*
 * ZbxhistReadRawBlock returns the bytes of a block that cannot be read into
 * shared buffers; NULL if the file cannot be read either.
 */
char *
ZbxhistReadRawBlock(Relation day, BlockNumber block)
{
	BlockRead	read = {day, NULL, block, NIL, NULL};
	char	   *error;

	return ZbxhistTry(ReadFile, &read, ZbxhistIsDamage, &error) ?
		linitial(read.groups) : NULL;
}

/* ---- the index ---- */

/* the arguments of ReadIndex */
typedef struct IndexRead
{
	const DayLook *look;
	List	   *groups;
	MemoryContext context;		/* gets them */
} IndexRead;

/*
 * ZbxhistFindLostBlock returns the block of that number, NULL if it is not
 * among those that cannot be read.
 */
const LostBlock *
ZbxhistFindLostBlock(const DayLook *look, BlockNumber number)
{
	ListCell   *lc;

	foreach(lc, look->blocks)
	{
		const LostBlock *block = lfirst(lc);

		if (block->number == number)
			return block;
	}
	return NULL;
}

/*
 * HasRow says whether there is a row, maybe a dead one, at tid.  VACUUM cannot remove the
 * index entry as long as the scan that has found it pins the page, so there must be one.
 */
static bool
HasRow(Relation day, ItemPointer tid)
{
	BlockNumber block = ItemPointerGetBlockNumber(tid);
	OffsetNumber offset = ItemPointerGetOffsetNumber(tid);
	Buffer		buffer;
	Page		page;
	bool		result;

	if (block >= RelationGetNumberOfBlocks(day))
		return false;
	buffer = ReadBuffer(day, block);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	result = !PageIsNew(page) && offset <= PageGetMaxOffsetNumber(page) &&
		ItemIdIsUsed(PageGetItemId(page, offset));
	UnlockReleaseBuffer(buffer);
	return result;
}

/*
 * ReadIndex finds index entries without a group.  The scan keeps its page pinned,
 * because the snapshot is not an MVCC snapshot.
 */
static void
ReadIndex(void *arg)
{
	IndexRead  *read = arg;
	Relation	day = read->look->day;
	Relation	index = ZbxhistOpenGroupIndex(day);
	IndexScanDesc scan = index_beginscan_compat(day, index, SnapshotAny, 0);
	MemoryContext old;
	ItemPointer tid;

	scan->xs_want_itup = true;
	/* a scan that finds no row marks the index entry as dead */
	scan->ignore_killed_tuples = false;
	index_rescan(scan, NULL, 0, NULL, 0);
	while ((tid = index_getnext_tid(scan, ForwardScanDirection)) != NULL)
	{
		BlockNumber block = ItemPointerGetBlockNumber(tid);
		LostGroup  *group;
		bool		isnull;

		CHECK_FOR_INTERRUPTS();
		if (ZbxhistFindLostBlock(read->look, block) == NULL && HasRow(day, tid))
			continue;
		old = MemoryContextSwitchTo(read->context);
		group = palloc(sizeof(LostGroup));
		group->itemid = DatumGetInt64(index_getattr(scan->xs_itup, 1,
													scan->xs_itupdesc,
													&isnull));
		group->clock = DatumGetInt32(index_getattr(scan->xs_itup, 2,
												   scan->xs_itupdesc,
												   &isnull));
		group->block = block;
		read->groups = lappend(read->groups, group);
		MemoryContextSwitchTo(old);
	}
	index_endscan(scan);
	index_close(index, NoLock);
}

/*
 * ZbxhistFindLostGroups finds index entries whose groups are missing or cannot be
 * read; returns false and sets error if the index itself is damaged.
 */
bool
ZbxhistFindLostGroups(const DayLook *look, List **groups, char **error)
{
	IndexRead	read = {look, NIL, CurrentMemoryContext};
	bool		result;

	*groups = NIL;
	result = ZbxhistTry(ReadIndex, &read, ZbxhistIsIndexDamage, error);

	*groups = read.groups;
	return result;
}

/* ---- a group ---- */

/* the arguments and the result of FetchBytes */
typedef struct BytesFetch
{
	DayLook    *look;
	struct varlena *payload;
} BytesFetch;

/*
 * FetchBytes fetches a value that is stored elsewhere, or decompresses it.
 */
static void
FetchBytes(void *arg)
{
	BytesFetch *fetch = arg;

	fetch->payload = pg_detoast_datum(fetch->payload);
	if (ZbxhistIsArchived(fetch->payload))
		fetch->payload = ZbxhistFetchArchived(fetch->look->archive,
											  fetch->look->day,
											  fetch->payload, NULL);
}

/*
 * ZbxhistOpenStored opens the group of a row, or checks its shared times; returns what is
 * wrong, or NULL.
 */
const char *
ZbxhistOpenStored(DayLook *look, StoredGroup *stored)
{
	GroupReader *reader = &stored->group.reader;
	BytesFetch	fetch = {look, stored->payload};
	char	   *error;

	if (stored->payload == NULL)
		return "damaged row";
	if ((VARATT_IS_EXTERNAL(stored->payload) ||
		 VARATT_IS_COMPRESSED(stored->payload) ||
		 ZbxhistIsArchived(stored->payload)) &&
		!ZbxhistTry(FetchBytes, &fetch, ZbxhistIsDamage, &error))
		return error;
	stored->data = (uint8 *) VARDATA_ANY(fetch.payload);
	stored->length = VARSIZE_ANY_EXHDR(fetch.payload);
	if (stored->is_times)
		return ZbxhistWhyNotTimes(&stored->group, stored->data, stored->length);
	if (!ZbxhistOpenGroup(reader, stored->data, stored->length,
						  look->layout->npacked))
	{
		stored->newer = ZbxhistNewerFormat(reader);
		return ZbxhistWhyNotOpened(reader);
	}
	reader->times = ZbxhistTimesSource(look->times);
	return NULL;
}

/* ---- the day ---- */

/*
 * ZbxhistBeginDayLook prepares to read all of a day, in the current context.  The
 * snapshot must stay registered.
 */
void
ZbxhistBeginDayLook(DayLook *look, Relation day, const DayLayout *layout,
					Snapshot snapshot)
{
	for (int i = 0; i < layout->npacked; i++)
		ZbxhistRequireKnown(day, layout->packed[i]);
	look->day = day;
	look->layout = layout;
	look->snapshot = snapshot;
	look->times = ZbxhistBeginDayTimes(day, snapshot, true);
	look->archive = ZbxhistBeginArchiveReader(NULL, NULL);
	look->context = CurrentMemoryContext;
	look->block_context = AllocSetContextCreate(CurrentMemoryContext,
												"zbxhist page looked at",
												ALLOCSET_DEFAULT_SIZES);
	look->segment_context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist segment looked at",
												  ALLOCSET_DEFAULT_SIZES);
}

/*
 * ZbxhistLookThrough calls the visitor for all rows of a day, in memory that is reset
 * with each block, and reports the progress; nrows is the caller's count.
 */
void
ZbxhistLookThrough(DayLook *look, DayJob job, const int64 *nrows,
				   void (*visit) (void *arg, StoredGroup *stored), void *arg)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(look->day);

	for (BlockNumber block = 0; block < nblocks; block++)
	{
		MemoryContext old = MemoryContextSwitchTo(look->block_context);
		ListCell   *lc;

		CHECK_FOR_INTERRUPTS();
		note_day_progress(RelationGetRelid(look->day), job, block, nblocks,
						  *nrows);
		foreach(lc, ReadStored(look, block))
			visit(arg, lfirst(lc));
		MemoryContextSwitchTo(old);
		MemoryContextReset(look->block_context);
	}
}

/*
 * ZbxhistKeepPlace keeps where a group begins and ends.
 */
void
ZbxhistKeepPlace(DayLook *look, const DayGroup *group)
{
	MemoryContext old = MemoryContextSwitchTo(look->context);

	make_room(look->places, look->nplaces, look->max_places);
	look->places[look->nplaces++] = *group;
	MemoryContextSwitchTo(old);
}

/*
 * CompareGroups orders groups by where they begin.
 */
static int
CompareGroups(const void *a, const void *b)
{
	const DayGroup *left = a;
	const DayGroup *right = b;

	return compare_places(left->first_itemid, left->first_clock,
						  right->first_itemid, right->first_clock);
}

/*
 * ZbxhistSortPlaces sorts the places that have been kept.
 */
void
ZbxhistSortPlaces(DayLook *look)
{
	if (look->nplaces > 0)
		qsort(look->places, look->nplaces, sizeof(DayGroup), CompareGroups);
}
