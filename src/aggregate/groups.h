/*-------------------------------------------------------------------------
 *
 * groups.h
 *	  The groups of an aggregation, in bounded memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_GROUPS_H
#define ZBXHIST_GROUPS_H

#include "fmgr.h"

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
	struct ValueGroup *next;	/* with the same bucket */
	uint32		hash;
	int64		nrows;
	Datum	   *keys;
	bool	   *nulls;
	Total		totals[FLEXIBLE_ARRAY_MEMBER];
} ValueGroup;

typedef struct GroupTable
{
	int			nkeys;
	GroupKey   *keys;
	int			ninputs;
	GroupInput *inputs;

	/* those of the hashes that are looked at in this pass */
	uint32		first_hash;
	uint32		last_hash;

	int			ngroups;
	int			nbuckets;
	ValueGroup **buckets;
	Size		used;			/* bytes, about */
	Size		limit;			/* of used */
	MemoryContext context;		/* owns groups */
} GroupTable;

extern void ZbxhistInitGroups(GroupTable *table);
extern void ZbxhistFirstPass(GroupTable *table);
extern bool ZbxhistNextPass(GroupTable *table);
extern ValueGroup *ZbxhistFindGroup(GroupTable *table, const Datum *keys,
									const bool *nulls);
extern Size ZbxhistGroupBytes(int nkeys, int ninputs);

#endif							/* ZBXHIST_GROUPS_H */
