/*-------------------------------------------------------------------------
 *
 * fdw_analyze.c
 *	  ANALYZE of packed days: a sample of their rows.
 *
 * The number of rows taken from a day is in proportion to the rows of the day.  They come
 * from groups in random blocks.  A group has rows of few items, so only a few rows of
 * each group are taken, in proportion to its rows.  The order of the sample is that of
 * the days and blocks, as ANALYZE expects it.  Archived groups are not fetched.
 *
 * As the table's size in pages we return what its rows would take in a heap, because
 * ANALYZE of a parent samples its children in proportion to their pages.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "commands/vacuum.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/sampling.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "fdw/fdw.h"
#include "packed/day.h"
#include "packed/open_days.h"
#include "tables/packed_table.h"
#include "tables/partition_set.h"

/* rows that a page of a heap has */
#define HEAP_ROWS_PER_PAGE 135

/* rows taken of a group, on the average */
#define ROWS_PER_GROUP 4

typedef struct Sample
{
	Relation	table;
	HeapTuple  *rows;
	int			nrows;
	int			max_rows;
	int			nseen;			/* rows that were to be taken */
	pg_prng_state random;
	Datum	   *values;
	bool	   *nulls;
	MemoryContext row_context;
} Sample;

/* ---- rows ---- */

/*
 * AddSampleRow adds a row to the sample; when that is full, it replaces another one.
 */
static void
AddSampleRow(Sample *sample, RowMap *map, int row)
{
	MemoryContext old = MemoryContextSwitchTo(sample->row_context);
	TupleDesc	desc = RelationGetDescr(sample->table);
	HeapTuple	tuple;
	int			place = sample->nrows;

	ZbxhistMapRow(map, row, sample->values, sample->nulls);
	MemoryContextSwitchTo(old);
	tuple = heap_form_tuple(desc, sample->values, sample->nulls);
	MemoryContextReset(sample->row_context);

	sample->nseen++;
	if (sample->nrows < sample->max_rows)
		sample->nrows++;
	else
	{
		place = (int) pg_prng_uint64_range(&sample->random, 0,
										   sample->nseen - 1);
		if (place >= sample->max_rows)
		{
			heap_freetuple(tuple);
			return;
		}
		heap_freetuple(sample->rows[place]);
	}
	sample->rows[place] = tuple;
}

/*
 * AddFromSegment adds n of the rows of the current segment, evenly spread from
 * a random one on.
 */
static void
AddFromSegment(Sample *sample, DayReader *reader, int n)
{
	int			nrows = reader->rows.nrows;
	int			start = (int) pg_prng_uint64_range(&sample->random, 0,
												   nrows - 1);

	for (int i = 0; i < n; i++)
		AddSampleRow(sample, reader->map,
					 (int) (((int64) start + (int64) i * nrows / n) % nrows));
}

/*
 * AddFromBlock adds rows of the groups of a block, each with a probability.
 */
static void
AddFromBlock(Sample *sample, DayReader *reader, BlockNumber block,
			 double probability)
{
	const SegmentInfo *info;

	ZbxhistDayReaderStartBlocks(reader, block, block);
	while ((info = ZbxhistDayReaderFind(reader)) != NULL)
	{
		double		expected = info->nrows * probability;
		int			n = (int) (expected + pg_prng_double(&sample->random));

		if (n == 0)
			ZbxhistDayReaderSkip(reader);
		else if (ZbxhistDayReaderNextSegment(reader))
			AddFromSegment(sample, reader, n);
	}
}

/* ---- days ---- */

/*
 * AddFromDay adds about n rows of a day.
 */
static void
AddFromDay(Sample *sample, const DayReaderSpec *spec,
		   const PackedDay *day, double n)
{
	Relation	rel = ZbxhistOpenDay(day->relid, AccessShareLock);
	BlockNumber nblocks;
	BlockNumber nsampled;
	BlockSamplerData sampler;
	DayReader  *reader;

	if (rel == NULL)
		return;
	nblocks = RelationGetNumberOfBlocks(rel);
	nsampled = (BlockNumber) Min(nblocks, n / ROWS_PER_GROUP + 1);
	reader = ZbxhistOpenDayReader(rel, spec);
	ZbxhistDayScanFrom(reader->scan, NULL, true);
	(void) BlockSampler_Init(&sampler, nblocks, nsampled,
							 pg_prng_uint32(&sample->random));
	while (BlockSampler_HasMore(&sampler))
	{
		vacuum_delay_point_compat();
		AddFromBlock(sample, reader, BlockSampler_Next(&sampler),
					 n / nsampled / Max((double) day->nrows / nblocks, 1));
	}
	ZbxhistCloseDayReader(reader);
}

/*
 * GetDays copies the packed days of a foreign table, and sets *nrows to the
 * number of their rows.
 */
static PackedDay *
GetDays(Relation table, int *ndays, double *nrows)
{
	Relation	parent = table_open(ZbxhistForeignParent(table),
									AccessShareLock);
	PackedDay  *days = ZbxhistCopyPackedDays(ZbxhistGetPartitions(parent),
											 ndays);

	*nrows = 0;
	table_close(parent, NoLock);
	for (int i = 0; i < *ndays; i++)
		*nrows += days[i].nrows;
	return days;
}

/*
 * AcquireSample fills rows with a sample of at most max_rows rows, palloc'd,
 * and returns their number.
 */
static int
AcquireSample(Relation table, int elevel, HeapTuple *rows, int max_rows,
			  double *total_rows, double *total_dead_rows)
{
	ScanCounters counters = {0};
	DayReaderSpec spec = {0};
	Sample		sample = {0};
	int			natts = RelationGetDescr(table)->natts;
	int			ndays;
	double		nrows;
	PackedDay  *days = GetDays(table, &ndays, &nrows);

	sample.table = table;
	sample.rows = rows;
	sample.max_rows = max_rows;
	sample.values = palloc0(sizeof(Datum) * natts);
	sample.nulls = palloc(sizeof(bool) * natts);
	memset(sample.nulls, true, sizeof(bool) * natts);
	sample.row_context = AllocSetContextCreate(CurrentMemoryContext,
											   "zbxhist sample row",
											   ALLOCSET_DEFAULT_SIZES);
	pg_prng_seed(&sample.random, pg_prng_uint64(&pg_global_prng_state));
	spec.table = table;
	spec.snapshot = RegisterSnapshot(GetLatestSnapshot());
	spec.counters = &counters;
	for (int i = 0; i < ndays; i++)
	{
		CHECK_FOR_INTERRUPTS();
		AddFromDay(&sample, &spec, &days[i],
				   max_rows * (double) days[i].nrows / Max(nrows, 1));
	}
	UnregisterSnapshot(spec.snapshot);
	MemoryContextDelete(sample.row_context);

	ereport(elevel,
			errmsg("\"%s\": read %d packed days, containing about %.0f rows; %d rows in sample",
				   RelationGetRelationName(table), ndays, nrows,
				   sample.nrows));
	*total_rows = nrows;
	*total_dead_rows = 0;
	return sample.nrows;
}

/*
 * AnalyzeForeignTable says how a foreign table is analyzed, and its size.
 */
static bool
AnalyzeForeignTable(Relation table, AcquireSampleRowsFunc *acquire,
					BlockNumber *pages)
{
	int			ndays;
	double		nrows;

	pfree(GetDays(table, &ndays, &nrows));
	*acquire = AcquireSample;
	*pages = (BlockNumber) Min(nrows / HEAP_ROWS_PER_PAGE + (nrows > 0 ? 1 : 0),
							   MaxBlockNumber);
	return true;
}

/*
 * ZbxhistFdwAnalyzeInit sets the function of ANALYZE.
 */
void
ZbxhistFdwAnalyzeInit(FdwRoutine *routine)
{
	routine->AnalyzeForeignTable = AnalyzeForeignTable;
}
