/*-------------------------------------------------------------------------
 *
 * lookup.h
 *	  Looks for keys of a parent's rows in all places where they are not stored.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_LOOKUP_H
#define ZBXHIST_LOOKUP_H

#include "ingest/key_look.h"
#include "tables/partition_set.h"

/* the partition or packed day of a clock */
typedef struct ClockPlace
{
	Oid			relid;			/* InvalidOid: there is none */
	bool		is_day;			/* packed */
	Oid			partition;		/* that the day is being unpacked to, or
								 * InvalidOid */
	int64		from_clock;
	int64		to_clock;
} ClockPlace;

extern bool ZbxhistFindClockPlace(const PartitionSet *set, int32 clock,
								  ClockPlace *place);
extern bool ZbxhistLockForInsert(Oid relid);
extern void ZbxhistCheckKeys(Relation parent, const KeyRows *rows,
							 bool *has_strays);
extern bool ZbxhistKeyIsElsewhere(Relation parent, const KeyRows *row,
								  Oid *relid);

#endif							/* ZBXHIST_LOOKUP_H */
