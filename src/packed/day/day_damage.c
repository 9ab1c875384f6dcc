/*-------------------------------------------------------------------------
 *
 * day_damage.c
 *	  Reads a day's table of which a part cannot be read.
 *
 * What may fail is done in a subtransaction, page by page, so that one that is
 * damaged does not hide the others.  Errors that do not come from damage, such
 * as a cancel or a lack of memory, go on to the caller.
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
#include "packed/day/archived_group.h"
#include "packed/day/day_damage.h"
#include "packed/day/day_index.h"
#include "rows/attempt.h"
#include "rows/item_range.h"

/* an I/O buffer begins at a multiple of that */
#define IO_ALIGNMENT 4096

/* ---- errors ---- */

/*
 * ZbxhistIsDamage says whether an error is one that damaged files cause.
 */
bool
ZbxhistIsDamage(int sqlerrcode)
{
	switch (sqlerrcode)
	{
		case ERRCODE_DATA_CORRUPTED:
		case ERRCODE_INDEX_CORRUPTED:
		case ERRCODE_INTERNAL_ERROR:
		case ERRCODE_IO_ERROR:
		case ERRCODE_UNDEFINED_FILE:	/* of the relation, or of the state of
										 * a transaction that never was */
			return true;
		default:
			return false;
	}
}

/*
 * ZbxhistIsIndexDamage says the same of one that may come from a damaged index,
 * or say that it cannot be used.
 */
bool
ZbxhistIsIndexDamage(int sqlerrcode)
{
	return ZbxhistIsDamage(sqlerrcode) ||
		sqlerrcode == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
}

/*
 * ZbxhistTry runs a function in a subtransaction, in the current context.
 * Returns false and sets error to the message if it fails as expected.
 */
bool
ZbxhistTry(void (*run) (void *), void *arg, bool (*is_expected) (int),
		   char **error)
{
	ErrorData  *data = ZbxhistAttemptIf(run, arg, is_expected);

	if (data != NULL)
		*error = data->message;
	return data == NULL;
}

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
 * MakeGroupOfSlot makes the group of the row in slot.
 */
static StoredGroup *
MakeGroupOfSlot(Relation day, TupleTableSlot *slot)
{
	StoredGroup *stored = palloc0(sizeof(StoredGroup));
	const char *payload;

	stored->group.tid = slot->tts_tid;
	stored->has_place = ZbxhistReadPlace(slot, &stored->group);
	if (stored->has_place && ZbxhistHasPayload(day, slot))
	{
		payload = DatumGetPointer(slot->tts_values[DAY_ATTNUM_PAYLOAD - 1]);
		stored->payload = palloc(VARSIZE_ANY(payload));
		memcpy(stored->payload, payload, VARSIZE_ANY(payload));
	}
	return stored;
}

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

		read->groups = lappend(read->groups, MakeGroupOfSlot(read->day, slot));
		MemoryContextSwitchTo(old);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * ZbxhistReadDayBlock reads the rows of a block of the day that the snapshot
 * sees into groups; returns false and sets error if it is damaged.
 */
bool
ZbxhistReadDayBlock(Relation day, Snapshot snapshot, BlockNumber block,
					List **groups, char **error)
{
	BlockRead	read = {day, snapshot, block, NIL, CurrentMemoryContext};

	*groups = NIL;
	if (!ZbxhistTry(ReadBlock, &read, ZbxhistIsDamage, error))
		return false;
	*groups = read.groups;
	return true;
}

/*
 * ReadFile reads a block without a look at it.
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
	Relation	day;
	const List *blocks;			/* that cannot be read */
	List	   *groups;
	MemoryContext context;		/* gets them */
} IndexRead;

/*
 * ZbxhistFindLostBlock returns the block of that number, NULL if it is not
 * among those that cannot be read.
 */
const LostBlock *
ZbxhistFindLostBlock(const List *blocks, BlockNumber number)
{
	ListCell   *lc;

	foreach(lc, blocks)
	{
		const LostBlock *block = lfirst(lc);

		if (block->number == number)
			return block;
	}
	return NULL;
}

/*
 * HasRow says whether there is a row, be it dead, at tid.  The index is not
 * vacuumed there as long as the scan that has found tid stays, so there must
 * be one.
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
 * KeepLost keeps the group that the index scan has found.
 */
static void
KeepLost(IndexRead *read, IndexScanDesc scan, BlockNumber block)
{
	MemoryContext old = MemoryContextSwitchTo(read->context);
	LostGroup  *group = palloc(sizeof(LostGroup));
	bool		isnull;

	group->itemid = DatumGetInt64(index_getattr(scan->xs_itup, 1,
												scan->xs_itupdesc, &isnull));
	group->clock = DatumGetInt32(index_getattr(scan->xs_itup, 2,
											   scan->xs_itupdesc, &isnull));
	group->block = block;
	read->groups = lappend(read->groups, group);
	MemoryContextSwitchTo(old);
}

/*
 * ReadIndex finds groups to which the index leads in vain.  The scan keeps its
 * page pinned, since the snapshot is none of MVCC.
 */
static void
ReadIndex(void *arg)
{
	IndexRead  *read = arg;
	Relation	index = ZbxhistOpenGroupIndex(read->day, AccessShareLock);
	IndexScanDesc scan = index_beginscan_compat(read->day, index, SnapshotAny,
												0);
	ItemPointer tid;

	scan->xs_want_itup = true;
	/* a scan that comes upon a missing row marks what led there as dead */
	scan->ignore_killed_tuples = false;
	index_rescan(scan, NULL, 0, NULL, 0);
	while ((tid = index_getnext_tid(scan, ForwardScanDirection)) != NULL)
	{
		BlockNumber block = ItemPointerGetBlockNumber(tid);

		CHECK_FOR_INTERRUPTS();
		if (ZbxhistFindLostBlock(read->blocks, block) != NULL ||
			!HasRow(read->day, tid))
			KeepLost(read, scan, block);
	}
	index_endscan(scan);
	index_close(index, NoLock);
}

/*
 * ZbxhistFindLostGroups finds the groups to which the index leads in vain;
 * returns false and sets error if it is damaged itself.
 */
bool
ZbxhistFindLostGroups(Relation day, const List *blocks, List **groups,
					  char **error)
{
	IndexRead	read = {day, blocks, NIL, CurrentMemoryContext};
	bool		result;

	*groups = NIL;
	/* an index of runs says nothing of items */
	if (ZbxhistHasRuns(day))
		return true;
	result = ZbxhistTry(ReadIndex, &read, ZbxhistIsIndexDamage, error);

	*groups = read.groups;
	return result;
}

/* ---- a group ---- */

/* the arguments and the result of FetchBytes */
typedef struct BytesFetch
{
	Relation	day;
	ArchiveReader *archive;
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
		fetch->payload = ZbxhistFetchArchived(fetch->archive, fetch->day,
											  fetch->payload, NULL);
}

/*
 * ZbxhistCompareGroups orders groups by where they begin.
 */
int
ZbxhistCompareGroups(const void *a, const void *b)
{
	const DayGroup *left = a;
	const DayGroup *right = b;

	return compare_places(left->first_itemid, left->first_clock,
						  right->first_itemid, right->first_clock);
}

/*
 * ZbxhistFetchPayload returns the bytes of a group; NULL, and sets error, if
 * they cannot be read.
 */
struct varlena *
ZbxhistFetchPayload(Relation day, ArchiveReader *archive,
					struct varlena *payload, char **error)
{
	BytesFetch	fetch = {day, archive, payload};

	if (!VARATT_IS_EXTERNAL(payload) && !VARATT_IS_COMPRESSED(payload) &&
		!ZbxhistIsArchived(payload))
		return payload;
	return ZbxhistTry(FetchBytes, &fetch, ZbxhistIsDamage, error) ?
		fetch.payload : NULL;
}
