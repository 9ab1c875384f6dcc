/*-------------------------------------------------------------------------
 *
 * run_id.h
 *	  What a version of a run is remembered by.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_ID_H
#define ZBXHIST_RUN_ID_H

#include "access/htup_details.h"
#include "executor/tuptable.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

/* a hash key: nothing between its members */
typedef struct RunId
{
	Oid			relid;
	Oid			filenode;		/* another one after VACUUM FULL */
	BlockNumber block;
	uint32		offset;
	TransactionId xmin;
} RunId;

/*
 * slot_run_id returns that of the run in a slot.
 */
static inline RunId
slot_run_id(Relation runs, TupleTableSlot *slot)
{
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, NULL);
	RunId		id = {RelationGetRelid(runs), runs->rd_rel->relfilenode,
		ItemPointerGetBlockNumber(&slot->tts_tid),
		ItemPointerGetOffsetNumber(&slot->tts_tid),
	HeapTupleHeaderGetRawXmin(tuple->t_data)};

	return id;
}

#endif							/* ZBXHIST_RUN_ID_H */
