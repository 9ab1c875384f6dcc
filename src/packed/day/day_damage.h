/*-------------------------------------------------------------------------
 *
 * day_damage.h
 *	  Reads a day's table of which a part cannot be read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_DAMAGE_H
#define ZBXHIST_DAY_DAMAGE_H

#include "nodes/pg_list.h"
#include "storage/block.h"

#include "packed/day/day.h"

/* a row of a day's table */
typedef struct StoredGroup
{
	DayGroup	group;			/* its reader is not open */
	bool		has_place;		/* else only its tid is known */
	struct varlena *payload;	/* as stored; NULL: the row is damaged */
} StoredGroup;

/*
 * runs a function in a subtransaction; returns false and sets error if that
 * fails with an expected SQLSTATE.  Other errors are raised
 */
extern bool ZbxhistTry(void (*run) (void *), void *arg,
					   bool (*is_expected) (int sqlerrcode), char **error);
extern bool ZbxhistIsDamage(int sqlerrcode);
extern bool ZbxhistIsIndexDamage(int sqlerrcode);

/* the rows (StoredGroup) of a block; false, and error, if it is damaged */
extern bool ZbxhistReadDayBlock(Relation day, Snapshot snapshot,
								BlockNumber block, List **groups,
								char **error);

/* orders groups (DayGroup) by where they begin, for qsort() */
extern int	ZbxhistCompareGroups(const void *a, const void *b);

/* the bytes of a group, detoasted; NULL, and error, if they are damaged */
extern struct varlena *ZbxhistFetchPayload(Relation day,
										   ArchiveReader *archive,
										   struct varlena *payload,
										   char **error);

/* a block that cannot be read */
typedef struct LostBlock
{
	BlockNumber number;
	char	   *error;
} LostBlock;

/* where, as the index has it, a group begins that cannot be read */
typedef struct LostGroup
{
	int64		itemid;
	int32		clock;
	BlockNumber block;
} LostGroup;

/*
 * the groups (LostGroup), in order, to which the index leads in vain: in blocks
 * (LostBlock) that cannot be read, or that have no such row.  False, and error,
 * if the index is damaged itself
 */
extern bool ZbxhistFindLostGroups(Relation day, const List *blocks,
								  List **groups, char **error);
extern const LostBlock *ZbxhistFindLostBlock(const List *blocks,
											 BlockNumber number);

/* the bytes of a block as the file has them; NULL if that fails, too */
extern char *ZbxhistReadRawBlock(Relation day, BlockNumber block);

#endif							/* ZBXHIST_DAY_DAMAGE_H */
