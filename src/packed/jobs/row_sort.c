/*-------------------------------------------------------------------------
 *
 * row_sort.c
 *	  Sorts any number of rows by item and position, in bounded memory.
 *
 * Rows are collected in one block of memory: their bytes from its beginning
 * upwards, the entries that are sorted from its end downwards.  When the two
 * meet, the rows are sorted and written to a temporary file as a run; at the
 * end runs are merged.  The order of equal rows is not defined.
 *
 * The key is known and small, so this takes a fraction of the time of
 * tuplesort, which would look into each tuple to compare rows of one item.
 *
 * Everything is allocated in a context of the sort's own, below the current
 * one when it begins; temporary files belong to the current resource owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "packed/jobs/row_sort.h"
#include "rows/item_range.h"

#define MIN_MEMORY		((Size) 64 * 1024)
#define MIN_RUN_BUFFER	((Size) 16 * 1024)
#define MAX_RUN_BUFFER	((Size) 512 * 1024)

/* what is sorted; data is preceded by its length, which may not be aligned */
typedef struct SortEntry
{
	int64		itemid;
	int64		position;
	char	   *data;
} SortEntry;

/* what precedes a row's bytes in a run */
typedef struct RunHeader
{
	int64		itemid;
	int64		position;
	uint32		length;
} RunHeader;

typedef struct SortRun
{
	BufFile    *file;
	SortedRow	row;			/* the next one */
	char	   *buffer;
	Size		size;			/* of buffer */
	Size		used;			/* bytes read into it */
	Size		next;			/* of them taken out */
} SortRun;

struct RowSort
{
	char	   *memory;
	char	   *data_end;		/* of the rows' bytes */
	SortEntry  *entries;		/* the first of them */
	SortEntry  *entries_end;

	SortRun    *runs;
	int			nruns;
	int			max_runs;
	binaryheap *heap;			/* of runs; NULL: all is in memory */
	SortRun    *current;		/* run of the row given out last */
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
	for (int i = 0; i < sort->nruns; i++)
		BufFileClose(sort->runs[i].file);
	MemoryContextDelete(sort->context);
}

/*
 * AddRun returns a new run with its temporary file.
 */
static SortRun *
AddRun(RowSort *sort)
{
	SortRun    *run;

	if (sort->nruns == sort->max_runs)
	{
		sort->max_runs = Max(sort->max_runs * 2, 16);
		sort->runs = sort->runs == NULL ?
			palloc(sizeof(SortRun) * sort->max_runs) :
			repalloc(sort->runs, sizeof(SortRun) * sort->max_runs);
	}
	run = &sort->runs[sort->nruns++];
	memset(run, 0, sizeof(*run));
	PrepareTempTablespaces();
	run->file = BufFileCreateTemp(false);
	return run;
}

/*
 * WriteRun sorts the rows in memory and writes them to a run.
 */
static void
WriteRun(RowSort *sort)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);
	SortRun    *run = AddRun(sort);

	sort_entries(sort->entries, sort->entries_end - sort->entries);
	for (SortEntry *entry = sort->entries; entry < sort->entries_end; entry++)
	{
		RunHeader	header = {0};

		CHECK_FOR_INTERRUPTS();
		header.itemid = entry->itemid;
		header.position = entry->position;
		memcpy(&header.length, entry->data - sizeof(uint32), sizeof(uint32));
		BufFileWrite(run->file, &header, sizeof(header));
		BufFileWrite(run->file, entry->data, header.length);
	}
	sort->data_end = sort->memory;
	sort->entries = sort->entries_end;
	MemoryContextSwitchTo(old);
}

/*
 * HasRoom says whether a row of that length fits into memory.
 */
static inline bool
HasRoom(const RowSort *sort, uint32 length)
{
	return (Size) ((char *) sort->entries - sort->data_end) >=
		sizeof(SortEntry) + sizeof(uint32) + (Size) length;
}

/*
 * ZbxhistRowSortAdd adds a row; its bytes are copied.
 */
void
ZbxhistRowSortAdd(RowSort *sort, const SortedRow *row)
{
	SortEntry  *entry;

	if (unlikely(!HasRoom(sort, row->length)))
	{
		if (sort->entries < sort->entries_end)
			WriteRun(sort);
		if (!HasRoom(sort, row->length))
			ereport(ERROR,
					errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg("a row of %u bytes is too long to be sorted",
						   row->length),
					errhint("Increase \"%s\".", "maintenance_work_mem"));
	}
	entry = --sort->entries;
	entry->itemid = row->itemid;
	entry->position = row->position;
	entry->data = sort->data_end + sizeof(uint32);
	memcpy(sort->data_end, &row->length, sizeof(uint32));
	memcpy(entry->data, row->data, row->length);
	sort->data_end = entry->data + row->length;
}

/* ---- merging runs ---- */

/*
 * compare_runs orders runs by their next rows, the first one on top.
 */
static int
compare_runs(Datum a, Datum b, void *arg)
{
	const SortRun *left = (const SortRun *) DatumGetPointer(a);
	const SortRun *right = (const SortRun *) DatumGetPointer(b);

	return compare_places(right->row.itemid, right->row.position,
						  left->row.itemid, left->row.position);
}

/*
 * NeedBytes makes sure that so many bytes of the run are in its buffer;
 * returns false at the end of the run.
 */
static bool
NeedBytes(SortRun *run, Size bytes)
{
	Size		rest = run->used - run->next;

	if (likely(rest >= bytes))
		return true;
	memmove(run->buffer, run->buffer + run->next, rest);
	if (bytes > run->size)
	{
		run->buffer = repalloc_huge(run->buffer, bytes);
		run->size = bytes;
	}
	run->next = 0;
	run->used = rest + BufFileRead(run->file, run->buffer + rest,
								   run->size - rest);
	if (run->used >= bytes)
		return true;
	if (run->used > 0)
		ereport(ERROR,
				errcode(ERRCODE_IO_ERROR),
				errmsg("could not read from temporary file of sorted rows"));
	return false;
}

/*
 * ReadRun reads the next row of a run; returns false at its end.
 */
static bool
ReadRun(SortRun *run)
{
	RunHeader	header;

	if (!NeedBytes(run, sizeof(header)))
		return false;
	memcpy(&header, run->buffer + run->next, sizeof(header));
	(void) NeedBytes(run, sizeof(header) + header.length);
	run->row.itemid = header.itemid;
	run->row.position = header.position;
	run->row.length = header.length;
	run->row.data = run->buffer + run->next + sizeof(header);
	run->next += sizeof(header) + header.length;
	return true;
}

/*
 * StartMerge begins to read all runs.
 */
static void
StartMerge(RowSort *sort, Size memory)
{
	Size		size = memory / sort->nruns;

	size = Max(MIN_RUN_BUFFER, Min(size, MAX_RUN_BUFFER));
	sort->heap = binaryheap_allocate(sort->nruns, compare_runs, NULL);
	for (int i = 0; i < sort->nruns; i++)
	{
		SortRun    *run = &sort->runs[i];

		CHECK_FOR_INTERRUPTS();
		if (BufFileSeek(run->file, 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					errcode(ERRCODE_IO_ERROR),
					errmsg("could not rewind temporary file of sorted rows"));
		run->size = size;
		run->buffer = palloc(size);
		if (ReadRun(run))
			binaryheap_add_unordered(sort->heap, PointerGetDatum(run));
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
	Size		memory = (char *) sort->entries_end - sort->memory;

	if (sort->nruns == 0)
	{
		sort_entries(sort->entries, sort->entries_end - sort->entries);
		return;
	}
	if (sort->entries < sort->entries_end)
		WriteRun(sort);
	old = MemoryContextSwitchTo(sort->context);
	pfree(sort->memory);
	StartMerge(sort, memory);
	MemoryContextSwitchTo(old);
}

/*
 * NextOfRuns returns the next row of all runs.  The run of the row before goes
 * on only now, as the bytes of that were in its buffer.
 */
static bool
NextOfRuns(RowSort *sort, SortedRow *row)
{
	SortRun    *run = sort->current;

	if (run != NULL && ReadRun(run))
		binaryheap_replace_first(sort->heap, PointerGetDatum(run));
	else if (run != NULL)
		(void) binaryheap_remove_first(sort->heap);

	sort->current = NULL;
	if (binaryheap_empty(sort->heap))
		return false;
	run = (SortRun *) DatumGetPointer(binaryheap_first(sort->heap));
	sort->current = run;
	*row = run->row;
	return true;
}

/*
 * ZbxhistRowSortNext returns the next row; its bytes are good until the next
 * call.
 */
bool
ZbxhistRowSortNext(RowSort *sort, SortedRow *row)
{
	SortEntry  *entry = sort->entries;

	if (sort->heap != NULL)
		return NextOfRuns(sort, row);
	if (entry == sort->entries_end)
		return false;
	row->itemid = entry->itemid;
	row->position = entry->position;
	row->data = entry->data;
	memcpy(&row->length, entry->data - sizeof(uint32), sizeof(uint32));
	sort->entries++;
	return true;
}
