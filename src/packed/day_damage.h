/*-------------------------------------------------------------------------
 *
 * day_damage.h
 *	  Reads all that can be read of a damaged day's table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_DAMAGE_H
#define ZBXHIST_DAY_DAMAGE_H

#include "nodes/pg_list.h"
#include "storage/block.h"

#include "packed/day.h"
#include "packed/day_progress.h"

/* a row of a day's table, or a block that cannot be read */
typedef struct StoredGroup
{
	DayGroup	group;			/* its reader is not open */
	const char *lost;			/* why its block cannot be read; NULL: it can */
	bool		has_place;		/* false: only its tid is known */
	bool		is_times;		/* shared times */
	struct varlena *payload;	/* as stored; NULL: the row is damaged */
	/* set when it is opened */
	const uint8 *data;			/* NULL: its bytes cannot be read */
	size_t		length;
	int			newer;			/* format that is not known yet; 0: none */
} StoredGroup;

/* a look through a day's table of which a part may be damaged */
typedef struct DayLook
{
	Relation	day;
	const DayLayout *layout;
	Snapshot	snapshot;
	DayTimes   *times;			/* that segments share */
	ArchiveReader *archive;		/* of archived groups */
	List	   *blocks;			/* LostBlock: that cannot be read */
	/* where groups begin and end, as far as they are kept */
	DayGroup   *places;
	int			nplaces;
	int			max_places;
	MemoryContext context;		/* owns all this */
	MemoryContext block_context;	/* reset with each block */
	MemoryContext segment_context;	/* for the caller */
} DayLook;

extern void ZbxhistBeginDayLook(DayLook *look, Relation day,
								const DayLayout *layout, Snapshot snapshot);
extern void ZbxhistLookThrough(DayLook *look, DayJob job, const int64 *nrows,
							   void (*visit) (void *arg, StoredGroup *stored),
							   void *arg);
extern const char *ZbxhistOpenStored(DayLook *look, StoredGroup *stored);
extern void ZbxhistKeepPlace(DayLook *look, const DayGroup *group);
extern void ZbxhistSortPlaces(DayLook *look);

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
 * that cannot be read, or that have no such row.  False, and error, if the index
 * is damaged itself
 */
extern bool ZbxhistFindLostGroups(const DayLook *look, List **groups,
								  char **error);
extern const LostBlock *ZbxhistFindLostBlock(const DayLook *look,
											 BlockNumber number);

/* the bytes of a block as the file has them; NULL if that fails, too */
extern char *ZbxhistReadRawBlock(Relation day, BlockNumber block);

#endif							/* ZBXHIST_DAY_DAMAGE_H */
