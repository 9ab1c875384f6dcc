/*-------------------------------------------------------------------------
 *
 * run.h
 *	  Rows of many items as bytes: runs.
 *
 * A run holds rows that came together, sorted by itemid, clock and ns, column
 * by column; no two rows of one itemid need to be near each other in time.  It
 * is what one row of an hour's table stores while the hour's values come in.
 *
 * Nothing here knows PostgreSQL's types or tables.  Whatever bytes are given
 * to the reading functions, they return false rather than read or write out
 * of bounds; the caller says which table it was.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_H
#define ZBXHIST_RUN_H

#include "packed/format/packed_column.h"

/* rows to be written as a run, or read from one */
typedef struct RunRows
{
	int			nrows;
	int			nall;			/* read: rows of the run */
	int			first;			/* read: those that are before these */
	int64	   *itemids;		/* sorted; of the same one by clock and ns */
	int			ncolumns;		/* those besides itemid */
	PackedColumn *columns;		/* the first is clock: PACKED_INT, no nulls */
} RunRows;

/* rows in a run, at most */
#define RUN_MAX_ROWS 65535

/*
 * Writes rows from `from` on, as many as fit into max_size bytes, but at least
 * one, and returns their number.  The bytes are palloc'd.
 */
extern int	ZbxhistEncodeRun(const RunRows *rows, int from, size_t max_size,
							 uint8 **data, size_t *length);

/* a run of any number of columns, up to PACKED_MAX_COLUMNS */
#define ANY_COLUMNS (-1)

/*
 * Reads a run, which must have so many columns: the clocks and those that are wanted
 * (null: all), others have no arrays; all rows or, unless itemid is null, an item's, as
 * if they were cut out of all of them: there may be none, and then only what says so
 * is checked.  Arrays are in the current memory context, and nothing points into
 * data.  A column's kind is the run's own: the caller must check that it is one that
 * suits the table.
 */
extern bool ZbxhistDecodeRun(const uint8 *data, size_t length, int ncolumns,
							 const bool *wanted, const int64 *itemid,
							 RunRows *rows);

/*
 * The format of a run that could not be read, if that is newer than those that
 * are known here; else 0: its bytes are damaged.
 */
extern int	ZbxhistNewerRunFormat(const uint8 *data, size_t length);

#endif							/* ZBXHIST_RUN_H */
