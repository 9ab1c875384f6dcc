/*-------------------------------------------------------------------------
 *
 * row_sort.c
 *	  Sorts any number of rows by item and position, in bounded memory.
 *
 * Rows are collected in one block of memory: their bytes from its beginning
 * upwards, the entries that are sorted from its end downwards.  When the two
 * meet, the rows are sorted and written to a temporary file as a piece; at the
 * end pieces are merged.  The order of equal rows is not defined.
 *
 * The key is known and small, while tuplesort would look into each tuple to compare rows
 * of one item.  With 2.88 million rows of 2,000 items and 64 MB, tuplesort alone takes
 * 1.3 seconds of CPU; reading, sorting here, packing and writing take 0.8 together
 * (PostgreSQL 15).
 *
 * Rows are sorted as tuples of the table that they are from.  Values that are compressed
 * or stored out of line stay so until they are packed, so the sort handles small rows
 * only.
 *
 * Everything is allocated in a context of the sort's own, below the current
 * one when it begins; temporary files belong to the current resource owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "commands/tablespace.h"
#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "compat.h"
#include "make_room.h"
#include "packed/row_sort.h"
#include "tables/item_range.h"

#define MIN_MEMORY		((Size) 64 * 1024)

/* what is sorted */
typedef struct SortEntry
{
	int64		itemid;
	int64		position;
	MinimalTuple tuple;
} SortEntry;

/* header of a row in a piece, before its tuple */
typedef struct RowHeader
{
	int64		itemid;
	int64		position;
	uint32		length;
} RowHeader;

typedef struct SortPiece
{
	BufFile    *file;
	SortEntry	row;			/* the next one */
	int64		nrows;			/* rows that were not returned yet */
	uint32		size;			/* size of its tuple */
} SortPiece;

struct RowSort
{
	char	   *memory;
	char	   *data_end;		/* of the tuples */
	SortEntry  *entries;		/* the first of them */
	SortEntry  *entries_end;

	SortPiece  *pieces;
	int			npieces;
	int			max_pieces;
	binaryheap *heap;			/* of pieces; NULL: all is in memory */
	SortPiece  *current;		/* piece of the last row returned */
	MemoryContext context;		/* owns all this */
};

#define ST_SORT sort_entries
#define ST_ELEMENT_TYPE SortEntry
#define ST_COMPARE(a, b) \
	compare_places((a)->itemid, (a)->position, (b)->itemid, (b)->position)
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* ---- collecting ---- */

/*
 * ZbxhistBeginRowSort prepares for sorting within memory bytes.
 */
RowSort *
ZbxhistBeginRowSort(Size memory)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist row sort",
												  ALLOCSET_DEFAULT_SIZES);
	RowSort    *sort = MemoryContextAllocZero(context, sizeof(RowSort));

	memory = MAXALIGN_DOWN(Max(memory, MIN_MEMORY));
	sort->context = context;
	sort->memory = MemoryContextAllocHuge(context, memory);
	sort->data_end = sort->memory;
	sort->entries = sort->entries_end = (SortEntry *) (sort->memory + memory);
	return sort;
}

/*
 * ZbxhistEndRowSort closes temporary files and frees all.
 */
void
ZbxhistEndRowSort(RowSort *sort)
{
	for (int i = 0; i < sort->npieces; i++)
		BufFileClose(sort->pieces[i].file);
	MemoryContextDelete(sort->context);
}

/*
 * WritePiece sorts the rows in memory and writes them to a piece.
 */
static void
WritePiece(RowSort *sort)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);
	SortPiece  *piece;

	make_room(sort->pieces, sort->npieces, sort->max_pieces);
	piece = &sort->pieces[sort->npieces++];
	memset(piece, 0, sizeof(*piece));
	PrepareTempTablespaces();
	piece->file = BufFileCreateTemp(false);
	piece->nrows = sort->entries_end - sort->entries;
	sort_entries(sort->entries, sort->entries_end - sort->entries);
	for (SortEntry *entry = sort->entries; entry < sort->entries_end; entry++)
	{
		RowHeader	header = {0};

		CHECK_FOR_INTERRUPTS();
		header.itemid = entry->itemid;
		header.position = entry->position;
		header.length = entry->tuple->t_len;
		BufFileWrite(piece->file, &header, sizeof(header));
		BufFileWrite(piece->file, entry->tuple, header.length);
	}
	sort->data_end = sort->memory;
	sort->entries = sort->entries_end;
	MemoryContextSwitchTo(old);
}

/*
 * HasRoom says whether a tuple of that length fits into memory.
 */
static inline bool
HasRoom(const RowSort *sort, uint32 length)
{
	return (Size) ((char *) sort->entries - sort->data_end) >=
		sizeof(SortEntry) + MAXALIGN((Size) length);
}

/*
 * ZbxhistSortRow adds a row to the sort, which copies it.
 */
void
ZbxhistSortRow(RowSort *sort, int64 itemid, int64 position, HeapTuple tuple)
{
	uint32		length = tuple->t_len - MINIMAL_TUPLE_OFFSET;
	SortEntry  *entry;

	if (unlikely(!HasRoom(sort, length)))
	{
		if (sort->entries < sort->entries_end)
			WritePiece(sort);
		if (!HasRoom(sort, length))
			ereport(ERROR,
					errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg("a row of %u bytes is too long to be sorted", length),
					errhint("Increase \"%s\".", "maintenance_work_mem"));
	}
	entry = --sort->entries;
	entry->itemid = itemid;
	entry->position = position;
	entry->tuple = (MinimalTuple) sort->data_end;
	memcpy(entry->tuple, (char *) tuple->t_data + MINIMAL_TUPLE_OFFSET, length);
	entry->tuple->t_len = length;
	/* where a datum of a row type says that it is one */
	memset(entry->tuple->mt_padding, 0, sizeof(entry->tuple->mt_padding));
	sort->data_end += MAXALIGN(length);
}

/* ---- merging pieces ---- */

/*
 * compare_pieces orders pieces by their next rows, the first one on top.
 */
static int
compare_pieces(Datum a, Datum b, void *arg)
{
	const SortPiece *left = (const SortPiece *) DatumGetPointer(a);
	const SortPiece *right = (const SortPiece *) DatumGetPointer(b);

	return compare_places(right->row.itemid, right->row.position,
						  left->row.itemid, left->row.position);
}

/*
 * ReadPiece reads so many bytes of a piece.
 */
static void
ReadPiece(SortPiece *piece, void *data, size_t length)
{
	if (BufFileRead(piece->file, data, length) != length)
		ereport(ERROR,
				errcode(ERRCODE_IO_ERROR),
				errmsg("could not read from temporary file of sorted rows"));
}

/*
 * ReadPieceRow reads the next row of a piece, in place of the one before;
 * returns false at its end.
 */
static bool
ReadPieceRow(SortPiece *piece)
{
	RowHeader	header;

	if (piece->nrows-- == 0)
		return false;
	ReadPiece(piece, &header, sizeof(header));
	if (header.length > piece->size)
	{
		piece->size = Max(header.length, 2 * piece->size);
		piece->row.tuple = repalloc_huge(piece->row.tuple, piece->size);
	}
	ReadPiece(piece, piece->row.tuple, header.length);
	piece->row.itemid = header.itemid;
	piece->row.position = header.position;
	return true;
}

/*
 * StartMerge begins to read all pieces.
 */
static void
StartMerge(RowSort *sort)
{
	sort->heap = binaryheap_allocate(sort->npieces, compare_pieces, NULL);
	for (int i = 0; i < sort->npieces; i++)
	{
		SortPiece  *piece = &sort->pieces[i];

		CHECK_FOR_INTERRUPTS();
		if (BufFileSeek(piece->file, 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					errcode(ERRCODE_IO_ERROR),
					errmsg("could not rewind temporary file of sorted rows"));
		piece->row.tuple = palloc(SizeofMinimalTupleHeader);
		if (ReadPieceRow(piece))
			binaryheap_add_unordered(sort->heap, PointerGetDatum(piece));
	}
	binaryheap_build(sort->heap);
}

/*
 * ZbxhistRowSortPerform ends the addition of rows.
 */
void
ZbxhistRowSortPerform(RowSort *sort)
{
	MemoryContext old;

	if (sort->npieces == 0)
	{
		sort_entries(sort->entries, sort->entries_end - sort->entries);
		return;
	}
	if (sort->entries < sort->entries_end)
		WritePiece(sort);
	old = MemoryContextSwitchTo(sort->context);
	pfree(sort->memory);
	StartMerge(sort);
	MemoryContextSwitchTo(old);
}

/*
 * NextOfPieces returns the next row of all pieces.  The piece of the row before is
 * advanced only now, because that row was in its memory.
 */
static SortEntry *
NextOfPieces(RowSort *sort)
{
	SortPiece  *piece = sort->current;

	if (piece != NULL && ReadPieceRow(piece))
		binaryheap_replace_first(sort->heap, PointerGetDatum(piece));
	else if (piece != NULL)
		(void) binaryheap_remove_first(sort->heap);
	sort->current = NULL;
	if (binaryheap_empty(sort->heap))
		return NULL;
	sort->current = (SortPiece *) DatumGetPointer(binaryheap_first(sort->heap));
	return &sort->current->row;
}

/*
 * ZbxhistRowSortNext returns the next row, which is valid until the next call; false if
 * there is none.
 */
bool
ZbxhistRowSortNext(RowSort *sort, SortedRow *row)
{
	SortEntry  *entry = sort->heap != NULL ? NextOfPieces(sort) :
		sort->entries < sort->entries_end ? sort->entries++ : NULL;

	if (entry == NULL)
		return false;
	row->itemid = entry->itemid;
	row->position = entry->position;
	row->tuple.t_len = entry->tuple->t_len + MINIMAL_TUPLE_OFFSET;
	row->tuple.t_data = (HeapTupleHeader)
		((char *) entry->tuple - MINIMAL_TUPLE_OFFSET);
	return true;
}
