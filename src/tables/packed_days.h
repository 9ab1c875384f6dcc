/*-------------------------------------------------------------------------
 *
 * packed_days.h
 *	  Which of a parent's days are packed, and what stands for them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_PACKED_DAYS_H
#define ZBXHIST_PACKED_DAYS_H

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "nodes/value.h"
#include "utils/snapshot.h"

/* the schema of the days' tables */
#define ZBXHIST_PACKED_SCHEMA "zbxhist_packed"

/* the option of those of the foreign table's columns that days have been packed
 * with: the name that they have there */
#define ZBXHIST_PACKED_OPTION "packed"

typedef struct PackedDay
{
	Oid			relid;			/* its table, which may have been dropped:
								 * open it with try_table_open */
	Oid			parent;
	int64		from_clock;		/* first clock it holds */
	int64		to_clock;		/* first clock after it */
	Oid			partition;		/* the partition to which it is being
								 * unpacked, or InvalidOid */
	bool		is_unpacked;	/* its rows are in that partition */
	int64		nrows;			/* about so many */
	TimestampTz packed_at;
} PackedDay;

/* a column that was renamed since days were packed */
typedef struct RenamedColumn
{
	NameData	name;			/* now */
	NameData	packed;			/* in the days */
} RenamedColumn;

extern PackedDay *ZbxhistReadPackedDays(Oid parent, int *ndays);
extern int	ZbxhistCountPackedDays(Oid parent, Oid *found);
extern bool ZbxhistReadPackedDay(Oid relid, Snapshot snapshot,
								 PackedDay *day);
extern bool ZbxhistWasPacked(Oid relid, Snapshot snapshot);
extern char *ZbxhistFindOption(List *options, const char *name);
extern bool ZbxhistIsPackedTable(Oid relid);
extern void ZbxhistReadPackedColumns(Oid foreign, List **new_columns,
									 List **renamed);

/*
 * is_new_column says whether a column is among those that no day has been packed
 * with.
 */
static inline bool
is_new_column(const List *new_columns, const char *name)
{
	return new_columns != NIL &&
		list_member(new_columns, makeString(unconstify(char *, name)));
}

#endif							/* ZBXHIST_PACKED_DAYS_H */
