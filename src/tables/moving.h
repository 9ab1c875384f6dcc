/*-------------------------------------------------------------------------
 *
 * moving.h
 *	  What all moves of a table's rows to another place have in common.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_MOVING_H
#define ZBXHIST_MOVING_H

#include "executor/tuptable.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

typedef struct RowWalk
{
	Relation	source;
	Snapshot	snapshot;
	bool		is_of_all;		/* reads all rows, whatever their clocks */
	int64		from_clock;		/* included */
	int64		to_clock;		/* excluded */
	bool		is_of_ends;		/* by an index: one row of each item is
								 * enough, the oldest or newest */
	bool		is_backward;	/* the newest */

	/*
	 * is given each row, and may narrow the clocks; returns false to stop
	 * before it
	 */
	bool		(*visit) (void *state, TupleTableSlot *slot);
	void	   *state;
} RowWalk;

extern void ZbxhistRequireClock(Relation rel);
extern Relation ZbxhistOpenForMoving(Oid relid, LOCKMODE lockmode,
									 bool has_clock);
extern bool ZbxhistWalkRows(const RowWalk *walk, Relation index, bool is_first,
							int64 *itemid);
extern bool ZbxhistDeleteMoved(Relation source, ItemPointer tid,
							   Snapshot snapshot);

#endif							/* ZBXHIST_MOVING_H */
