/*-------------------------------------------------------------------------
 *
 * unpack.h
 *	  Rows of a packed day on their way back into a partition.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_UNPACK_H
#define ZBXHIST_UNPACK_H

#include "access/htup.h"

#include "catalog/owner_rights.h"
#include "packed/day/day.h"
#include "packed/values/row_map.h"
#include "rows/target.h"

/* rows that are inserted together */
#define UNPACK_ROWS 1000

typedef struct Unpacking
{
	Relation	day;
	DayLayout  *layout;
	Relation	table;			/* whose columns the rows get */
	OwnerRights before;			/* of the caller */
	RowMap	   *map;
	InsertTarget *target;		/* the partition */
	int64		from_clock;		/* which it holds */
	int64		to_clock;
	Datum	   *values;
	bool	   *nulls;
	MemoryContext row_context;	/* values of a row */

	TupleTableSlot *slots[UNPACK_ROWS];
} Unpacking;

extern void ZbxhistBeginUnpacking(Unpacking *state, Oid day, Oid partition);
extern void ZbxhistUnpackRow(Unpacking *state, int row, TupleTableSlot *slot);
extern void ZbxhistEndUnpacking(Unpacking *state);

#endif							/* ZBXHIST_UNPACK_H */
