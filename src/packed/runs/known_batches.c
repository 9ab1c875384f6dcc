/*-------------------------------------------------------------------------
 *
 * known_batches.c
 *	  Batches of runs that this session has met.
 *
 * They save a reader of an item from looking for the next batch through index
 * entries of the batch itself, of which there are hundreds: a reader that knows
 * which one probably comes next only has to make sure that there is no other
 * one between.
 *
 * What is known here may be wrong: no snapshot has part in it.  It must not
 * decide what is read, only what is looked at first.  So nothing is ever
 * invalidated; a batch that is not met again is forgotten.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "binary_search.h"
#include "packed/runs/known_batches.h"

/* tables, and batches in each: the hour, the one before, and then some */
#define MAX_TABLES 8
#define MAX_BATCHES 64

/* a table, and its batches, the newest first */
typedef struct KnownTable
{
	Oid			relid;
	int			nbatches;
	KnownBatch	batches[MAX_BATCHES];
} KnownTable;

static KnownTable tables[MAX_TABLES];
static int	next_table = 0;		/* to be replaced */

/*
 * FindTable returns what is known of a table, or NULL.
 */
static KnownTable *
FindTable(Oid relid)
{
	for (int i = 0; i < MAX_TABLES; i++)
	{
		if (tables[i].relid == relid)
			return &tables[i];
	}
	return NULL;
}

/*
 * FindFrom returns where the first batch is that is not newer than one.
 */
static int
FindFrom(const KnownTable *table, int64 number)
{
	int			i;

	find_first(i, table->nbatches, table->batches[i].number <= number);
	return i;
}

/*
 * ZbxhistKnownBatchBefore returns the newest batch that is known and older than
 * one, or NULL.  It is good until another one is remembered or forgotten.
 */
const KnownBatch *
ZbxhistKnownBatchBefore(Oid relid, int64 number)
{
	const KnownTable *table = FindTable(relid);
	int			i;

	if (table == NULL)
		return NULL;
	i = FindFrom(table, number);
	if (i < table->nbatches && table->batches[i].number == number)
		i++;
	return i < table->nbatches ? &table->batches[i] : NULL;
}

/*
 * ZbxhistRememberBatch remembers a batch that has been met, or how wide its runs
 * are.  The oldest make room for others.
 */
void
ZbxhistRememberBatch(Oid relid, int64 number, int64 width)
{
	KnownTable *table = FindTable(relid);
	int			i;

	if (table == NULL)
	{
		table = &tables[next_table];
		next_table = (next_table + 1) % MAX_TABLES;
		table->relid = relid;
		table->nbatches = 0;
	}
	i = FindFrom(table, number);
	if (i == MAX_BATCHES)
		return;
	if (i == table->nbatches || table->batches[i].number != number)
	{
		table->nbatches = Min(table->nbatches + 1, MAX_BATCHES);
		memmove(&table->batches[i + 1], &table->batches[i],
				(table->nbatches - i - 1) * sizeof(KnownBatch));
	}
	table->batches[i].number = number;
	table->batches[i].width = width;
}

/*
 * ZbxhistForgetBatch forgets a batch that has not been met.
 */
void
ZbxhistForgetBatch(Oid relid, int64 number)
{
	KnownTable *table = FindTable(relid);
	int			i;

	if (table == NULL)
		return;
	i = FindFrom(table, number);
	if (i == table->nbatches || table->batches[i].number != number)
		return;
	table->nbatches--;
	memmove(&table->batches[i], &table->batches[i + 1],
			(table->nbatches - i) * sizeof(KnownBatch));
}
