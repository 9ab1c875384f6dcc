/*-------------------------------------------------------------------------
 *
 * run_table.h
 *	  What a session knows of a table that takes runs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_TABLE_H
#define ZBXHIST_RUN_TABLE_H

#include "utils/relcache.h"

#include "packed/runs/run_index.h"
#include "packed/values/layout.h"

typedef struct RunTable
{
	Oid			relid;
	uint32		generation;		/* of the parent's set when it was read */
	bool		takes_rows;		/* the parent's rows can be stored there */
	bool		has_indexes;
	RunIndexes	indexes;		/* if it has them */
	DayLayout  *layout;			/* NULL: it has not the columns any more */
	AttrNumber *attnums;		/* of the parent, for each of its columns */
	double		row_bytes;		/* that a row took lately */
	MemoryContext context;		/* owns all this */
} RunTable;

extern RunTable *ZbxhistGetRunTable(Relation parent, Relation runs);

#endif							/* ZBXHIST_RUN_TABLE_H */
