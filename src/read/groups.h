/*-------------------------------------------------------------------------
 *
 * groups.h
 *	  The groups of an aggregation.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_GROUPS_H
#define ZBXHIST_GROUPS_H

#include "fmgr.h"
#include "lib/stringinfo.h"

#include "read/total.h"

/* a grouping key */
typedef struct GroupKey
{
	Oid			type;
	int16		typlen;
	bool		typbyval;
	Oid			collation;
	FmgrInfo	equal;
	FmgrInfo	hash;
} GroupKey;

/* what is added up for each group */
typedef struct GroupInput
{
	TotalKind	kind;
	Oid			type;
	bool		wants_sum;
} GroupInput;

typedef struct ValueGroup
{
	uint32		hash;
	int64		nrows;
	Datum	   *keys;
	bool	   *nulls;
	Total		totals[FLEXIBLE_ARRAY_MEMBER];
} ValueGroup;

/* an element of the hash table */
typedef struct GroupEntry
{
	ValueGroup *group;
	char		status;
} GroupEntry;

#define SH_PREFIX value_groups
#define SH_ELEMENT_TYPE GroupEntry
#define SH_KEY_TYPE ValueGroup *
#define SH_SCOPE extern
#define SH_DECLARE
#include "lib/simplehash.h"

typedef struct GroupTable
{
	int			nkeys;
	GroupKey   *keys;
	int			ninputs;
	GroupInput *inputs;

	value_groups_hash *groups;
	Size		used;			/* bytes, about */
	Size		limit;			/* of used, see groups_are_full */
	MemoryContext context;		/* owns groups */
	StringInfoData state;		/* of a group that is returned */
} GroupTable;

/*
 * groups_are_full says whether the groups have to go before more are made.
 */
static inline bool
groups_are_full(const GroupTable *table)
{
	return table->used >= table->limit && table->groups->members > 1;
}

extern void ZbxhistInitGroups(GroupTable *table);
extern void ZbxhistEmptyGroups(GroupTable *table);
extern ValueGroup *ZbxhistFindGroup(GroupTable *table, const Datum *keys,
									const bool *nulls);
extern Size ZbxhistGroupBytes(int nkeys, int ninputs);

#endif							/* ZBXHIST_GROUPS_H */
