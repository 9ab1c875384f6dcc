/*-------------------------------------------------------------------------
 *
 * day_pages.c
 *	  Writes each page of a new day's table once.
 *
 * Through the shared buffers each page of a table is written twice: as zeros when the
 * file grows, and with its rows.  Nobody else sees the table before the transaction that
 * creates it has committed.  So here a page is filled in private memory, then logged and
 * written, as PostgreSQL does when it builds an index or rewrites a table.
 *
 * Rows are frozen, pages marked as visible to all, and the visibility map
 * written along, so that VACUUM never has a reason to change them.  Rows that are
 * too large for a page go to the TOAST table as usual.
 *
 * PostgreSQL's bulk writes log the pages, many in one record, and make sure that they are
 * on disk when a checkpoint relies on that (storage/bulk_write.h; compat.c has a copy for
 * versions before 17).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/visibilitymapdefs.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#include "compat.h"
#include "packed/day_pages.h"

/* what a page of the visibility map says, as in visibilitymap.c */
#define MAP_BYTES		(BLCKSZ - MAXALIGN(SizeOfPageHeaderData))
#define BLOCKS_PER_BYTE	(BITS_PER_BYTE / BITS_PER_HEAPBLOCK)
#define BLOCKS_PER_MAP	(MAP_BYTES * BLOCKS_PER_BYTE)

StaticAssertDecl(VISIBILITYMAP_VALID_BITS == (1 << BITS_PER_HEAPBLOCK) - 1,
				 "a page is visible to all and frozen when all its bits are set");

struct DayPages
{
	Relation	day;
	TransactionId xid;
	CommandId	cid;
	BulkWriteState *writer;
	BulkWriteBuffer buffer;		/* the page being filled; NULL: none yet */
	BlockNumber block;			/* its number */
	Size		reserved;		/* bytes of the page to leave free */
	PgStat_Counter nrows;
};

/*
 * WriteMap writes a visibility map for nblocks pages, all of them visible to all
 * and frozen.
 */
static void
WriteMap(Relation day, BlockNumber nblocks)
{
	BulkWriteState *writer;

	smgrcreate(RelationGetSmgr(day), VISIBILITYMAP_FORKNUM, false);
	writer = smgr_bulk_start_rel(day, VISIBILITYMAP_FORKNUM);
	for (BlockNumber map = 0; map * BLOCKS_PER_MAP < nblocks; map++)
	{
		BulkWriteBuffer buffer = smgr_bulk_get_buf(writer);
		uint32		count = Min(nblocks - map * BLOCKS_PER_MAP, BLOCKS_PER_MAP);
		uint32		nbits = count % BLOCKS_PER_BYTE * BITS_PER_HEAPBLOCK;
		uint8	   *bytes;

		PageInit((Page) buffer, BLCKSZ, 0);
		bytes = (uint8 *) PageGetContents((Page) buffer);
		memset(bytes, 0xFF, count / BLOCKS_PER_BYTE);
		if (nbits > 0)
			bytes[count / BLOCKS_PER_BYTE] = (1 << nbits) - 1;
		smgr_bulk_write(writer, map, buffer, false);
	}
	smgr_bulk_finish(writer);
}

/* ---- pages ---- */

/*
 * ZbxhistBeginDayPages prepares for rows of a day's table, which the current
 * subtransaction has made, and which is empty.  Allocates in the current context.
 */
DayPages *
ZbxhistBeginDayPages(Relation day)
{
	DayPages   *pages = palloc0(sizeof(DayPages));

	Assert(day->rd_createSubid == GetCurrentSubTransactionId());
	Assert(RelationGetNumberOfBlocks(day) == 0);
	pages->day = day;
	pages->xid = GetCurrentTransactionId();
	pages->cid = GetCurrentCommandId(true);
	pages->writer = smgr_bulk_start_rel(day, MAIN_FORKNUM);
	pages->reserved = RelationGetTargetPageFreeSpace(day, HEAP_DEFAULT_FILLFACTOR);
	return pages;
}

/*
 * FinishPage hands the current page, if any, to be written.
 */
static void
FinishPage(DayPages *pages)
{
	if (pages->buffer == NULL)
		return;
	PageSetAllVisible((Page) pages->buffer);
	smgr_bulk_write(pages->writer, pages->block++, pages->buffer, true);
	pages->buffer = NULL;
}

/*
 * PageFor returns the current page, or the next if that has no room for a row of
 * that length.
 */
static Page
PageFor(DayPages *pages, Size length)
{
	if (pages->buffer != NULL &&
		PageGetHeapFreeSpace((Page) pages->buffer) < length + pages->reserved)
		FinishPage(pages);
	if (pages->buffer == NULL)
	{
		pages->buffer = smgr_bulk_get_buf(pages->writer);
		PageInit((Page) pages->buffer, BLCKSZ, 0);
	}
	return (Page) pages->buffer;
}

/*
 * FreezeRow makes a row one that all transactions see.
 */
static void
FreezeRow(const DayPages *pages, HeapTuple row)
{
	HeapTupleHeader header = row->t_data;

	header->t_infomask &= ~HEAP_XACT_MASK;
	header->t_infomask2 &= ~HEAP2_XACT_MASK;
	header->t_infomask |= HEAP_XMAX_INVALID;
	HeapTupleHeaderSetXmin(header, pages->xid);
	HeapTupleHeaderSetXminFrozen(header);
	HeapTupleHeaderSetCmin(header, pages->cid);
	HeapTupleHeaderSetXmax(header, InvalidTransactionId);
}

/*
 * PlaceRow puts a row into the current page or the next.
 */
static void
PlaceRow(DayPages *pages, HeapTuple row)
{
	Size		length = MAXALIGN(row->t_len);
	Page		page;
	OffsetNumber offset;
	HeapTupleHeader header;

	if (length > MaxHeapTupleSize)
		ereport(ERROR,
				errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("row is too big: size %zu, maximum size %zu",
					   length, (Size) MaxHeapTupleSize),
				errtable(pages->day));
	page = PageFor(pages, length);
	offset = PageAddItem(page, (char *) row->t_data, row->t_len,
						 InvalidOffsetNumber, false, true);
	if (offset == InvalidOffsetNumber)
		elog(ERROR, "failed to add row to page");
	ItemPointerSet(&row->t_self, pages->block, offset);
	header = (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, offset));
	header->t_ctid = row->t_self;
}

/*
 * ZbxhistAddToDayPages stores the row in a slot and sets the slot's tid.  The row cannot
 * be read before the end.
 */
void
ZbxhistAddToDayPages(DayPages *pages, TupleTableSlot *slot)
{
	HeapTuple	row = ExecFetchSlotHeapTuple(slot, true, NULL);
	HeapTuple	stored = row;

	row->t_tableOid = RelationGetRelid(pages->day);
	FreezeRow(pages, row);
	if (HeapTupleHasExternal(row) || row->t_len > TOAST_TUPLE_THRESHOLD)
		stored = heap_toast_insert_or_update(pages->day, row, NULL,
											 HEAP_INSERT_SKIP_FSM |
											 HEAP_INSERT_FROZEN |
											 HEAP_INSERT_NO_LOGICAL);
	PlaceRow(pages, stored);
	slot->tts_tid = stored->t_self;
	pages->nrows++;
	if (stored != row)
		heap_freetuple(stored);
}

/*
 * ZbxhistEndDayPages writes the last page and the visibility map.
 */
void
ZbxhistEndDayPages(DayPages *pages)
{
	FinishPage(pages);
	smgr_bulk_finish(pages->writer);
	if (pages->block > 0)
	{
		WriteMap(pages->day, pages->block);
		pgstat_count_heap_insert(pages->day, pages->nrows);
	}
	pfree(pages);
}
