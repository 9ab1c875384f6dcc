/*-------------------------------------------------------------------------
 *
 * row_set.h
 *	  Rows of items as the result of an SQL function.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROW_SET_H
#define ZBXHIST_ROW_SET_H

#include "fmgr.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "read/reader.h"

/* ranges of one parent, read one after the other */
typedef struct RowSet
{
	Relation	parent;
	Snapshot	snapshot;		/* registered */
	ItemReader *reader;
	const ItemRange *ranges;
	int			nranges;
	int			next_range;
	uint64		max_rows;		/* of each range */
	uint64		rows_left;		/* of the range being read */
} RowSet;

extern void ZbxhistOpenRowSet(RowSet *set, Oid relid, const ItemRange *ranges,
							  int nranges, uint64 max_rows);
extern bool ZbxhistNextRange(RowSet *set);
extern bool ZbxhistNextRow(RowSet *set);
extern void ZbxhistCloseRowSet(RowSet *set);

#endif							/* ZBXHIST_ROW_SET_H */
