/*-------------------------------------------------------------------------
 *
 * batch_rows.c
 *	  The rows of a batch that are still to be written, or to be checked.
 *
 * Slots are kept from statement to statement: making 1000 of them costs more
 * than a statement gains from them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/tuptable.h"
#include "utils/memutils.h"

#include "ingest/batch_private.h"
#include "tables/item_range.h"

/* ---- rows to be written ---- */

/*
 * is_same_row_type says whether tuples of one row type can be used as those of the other.
 * They must have the same layout and the same name, because triggers look up the name.
 */
static bool
is_same_row_type(TupleDesc a, TupleDesc b)
{
	if (a->natts != b->natts || a->tdtypeid != b->tdtypeid)
		return false;
	for (int i = 0; i < a->natts; i++)
	{
		Form_pg_attribute left = TupleDescAttr(a, i);
		Form_pg_attribute right = TupleDescAttr(b, i);

		if (left->atttypid != right->atttypid ||
			left->attlen != right->attlen ||
			left->attalign != right->attalign ||
			left->attisdropped != right->attisdropped)
			return false;
	}
	return true;
}

/*
 * ZbxhistSetBatchRowType makes the slots of an empty batch fit a row type.
 */
void
ZbxhistSetBatchRowType(InsertBatch *batch, TupleDesc desc)
{
	MemoryContext old;

	if (batch->desc != NULL && is_same_row_type(batch->desc, desc))
		return;
	MemoryContextReset(batch->rows_context);
	batch->nslots = 0;
	batch->desc = NULL;
	old = MemoryContextSwitchTo(batch->rows_context);
	batch->desc = CreateTupleDescCopy(desc);
	MemoryContextSwitchTo(old);
}

/*
 * compare_buffered_rows orders rows by partition, then by key.
 */
static int
compare_buffered_rows(const void *a, const void *b)
{
	const BufferedRow *left = a;
	const BufferedRow *right = b;
	int			order;

	if (left->partition != right->partition)
		return left->partition < right->partition ? -1 : 1;
	order = compare_places(left->itemid, left->position, right->itemid,
						   right->position);
	if (order != 0)
		return order;
	return left->arrival < right->arrival ? -1 : 1;
}

/*
 * GetFreeRow returns the place of the next row.  Slots are made here, not when
 * the batch opens: most statements are small.
 */
static BufferedRow *
GetFreeRow(InsertBatch *batch)
{
	if (batch->nrows == batch->nslots)
	{
		MemoryContext old = MemoryContextSwitchTo(batch->rows_context);

		batch->rows[batch->nslots++].slot =
			MakeSingleTupleTableSlot(batch->desc, &TTSOpsHeapTuple);
		MemoryContextSwitchTo(old);
	}
	return &batch->rows[batch->nrows];
}

/*
 * ZbxhistBufferRow adds a row to be stored in partition, or the parent.  Its tuple
 * becomes the batch's, or is copied.  Returns true if the rows have to be written
 * before the next one comes.
 */
bool
ZbxhistBufferRow(InsertBatch *batch, const NewRow *new, Oid partition)
{
	BufferedRow *row = GetFreeRow(batch);
	HeapTuple	tuple = new->tuple;

	if (!new->is_owned)
	{
		MemoryContext old = MemoryContextSwitchTo(batch->rows_context);

		tuple = heap_copytuple(tuple);
		MemoryContextSwitchTo(old);
	}
	row->partition = partition;
	row->arrival = batch->nrows;
	row->itemid = new->itemid;
	row->position = make_position(new->clock, new->ns);
	ExecStoreHeapTuple(tuple, row->slot, true);

	if (batch->nrows > 0 && batch->is_sorted &&
		compare_buffered_rows(&row[-1], row) > 0)
		batch->is_sorted = false;
	batch->nbytes += tuple->t_len;
	batch->nrows++;
	return batch->nrows == ZBXHIST_BATCH_MAX_ROWS ||
		batch->nbytes >= ZBXHIST_BATCH_MAX_BYTES ||
		batch->action == ROW_INSERT;
}

/*
 * ZbxhistSortRows puts the rows in the order in which they are written.
 */
void
ZbxhistSortRows(InsertBatch *batch)
{
	if (!batch->is_sorted)
		qsort(batch->rows, batch->nrows, sizeof(BufferedRow), compare_buffered_rows);
}

/*
 * ZbxhistClearRows empties the buffer; the slots stay.
 */
void
ZbxhistClearRows(InsertBatch *batch)
{
	for (int i = 0; i < batch->nrows; i++)
		ExecClearTuple(batch->rows[i].slot);
	batch->nrows = 0;
	batch->nbytes = 0;
	batch->is_sorted = true;
}

/* ---- rows that the executor stores ---- */

/*
 * ZbxhistKeepRow notes a copy of a row; there must be a place left.
 */
void
ZbxhistKeepRow(InsertBatch *batch, HeapTuple tuple)
{
	MemoryContext old = MemoryContextSwitchTo(batch->kept_context);

	batch->kept[batch->nkept++] = heap_copytuple(tuple);
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistClearKeptRows forgets them.
 */
void
ZbxhistClearKeptRows(InsertBatch *batch)
{
	batch->nkept = 0;
	MemoryContextReset(batch->kept_context);
}
