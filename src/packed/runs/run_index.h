/*-------------------------------------------------------------------------
 *
 * run_index.h
 *	  The indexes of a table of runs, and its batches.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_INDEX_H
#define ZBXHIST_RUN_INDEX_H

#include "access/genam.h"
#include "executor/tuptable.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "packed/values/day_decode.h"

/*
 * A batch is what one merge has written: runs that are sorted by item, and that
 * have no item in common but for one that goes on from a run to the next.  Its
 * number begins with its newest clock, so that batches are in the order of
 * these; then come its level and a number that tells it from others.
 *
 * No snapshot sees two batches of one number.  When both the runs of one are
 * gone, another may have it: a snapshot that sees that one does not see those
 * any more.
 */
#define BATCH_LEVEL_BITS 4
#define BATCH_NUMBER_BITS 28
#define BATCH_MAX_LEVEL ((1 << BATCH_LEVEL_BITS) - 1)
#define BATCH_MAX_NUMBER ((1 << BATCH_NUMBER_BITS) - 1)

/* of a run that a statement has stored */
#define NO_BATCH PG_INT64_MIN

/*
 * make_batch makes the number of a batch.
 */
static inline int64
make_batch(int32 last_clock, int level, int number)
{
	return (int64) last_clock * (INT64CONST(1) << 32) +
		((int64) level << BATCH_NUMBER_BITS) + number;
}

/*
 * batch_clock returns its newest clock.
 */
static inline int32
batch_clock(int64 batch)
{
	return (int32) (batch >> 32);
}

/*
 * batch_level returns its level.
 */
static inline int
batch_level(int64 batch)
{
	return (batch >> BATCH_NUMBER_BITS) & BATCH_MAX_LEVEL;
}

/*
 * batch_number returns what tells it from others.
 */
static inline int
batch_number(int64 batch)
{
	return batch & BATCH_MAX_NUMBER;
}

/* the two indexes: each run is in one of them */
typedef struct RunIndexes
{
	Oid			stored;			/* (last_clock) WHERE batch IS NULL */
	Oid			merged;			/* (batch, last_itemid, first_itemid) of
								 * others */
} RunIndexes;

extern bool ZbxhistRunIndexes(Relation runs, RunIndexes *indexes);
extern void ZbxhistAddToRunIndex(Relation runs, int64 batch,
								 TupleTableSlot **slots, int nslots);
extern int64 ZbxhistRunBatch(TupleTableSlot *slot);
extern bool ZbxhistReadBatch(Relation runs, TupleTableSlot *slot,
							 DayGroup *place, int64 *batch);

/* a scan of one of the indexes; next returns the scan's own slot, or NULL */
typedef struct RunIndexScan RunIndexScan;

extern RunIndexScan *ZbxhistBeginRunIndexScan(Relation runs, Oid relid,
											  Snapshot snapshot);
extern void ZbxhistRunsSince(RunIndexScan *scan, int32 clock);
extern void ZbxhistNewestStored(RunIndexScan *scan);
extern void ZbxhistRunsFromBatch(RunIndexScan *scan, int64 batch);
extern void ZbxhistRunsOfBatch(RunIndexScan *scan, int64 batch, int64 itemid,
							   int64 last_itemid);
extern bool ZbxhistNextBatch(RunIndexScan *scan, int64 after, int64 *batch,
							 int64 *last_itemid);
extern TupleTableSlot *ZbxhistNextInRunIndex(RunIndexScan *scan);
extern void ZbxhistEndRunIndexScan(RunIndexScan *scan);

#endif							/* ZBXHIST_RUN_INDEX_H */
