/*-------------------------------------------------------------------------
 *
 * bounds.h
 *	  The range of clocks of a partition, from its constraint.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_BOUNDS_H
#define ZBXHIST_BOUNDS_H

/* the constraint that makes a child a partition */
#define ZBXHIST_BOUNDS_CONSTRAINT "zbxhist_clock"

/* clocks are seconds since 1970 UTC; the ends do not fit int4 */
#define ZBXHIST_CLOCK_MIN ((int64) PG_INT32_MIN)
#define ZBXHIST_CLOCK_END ((int64) PG_INT32_MAX + 1)

/* some clocks */
typedef struct ClockRange
{
	int64		from_clock;		/* the first one */
	int64		to_clock;		/* end: the first clock after it */
} ClockRange;

/* all clocks */
#define ANY_CLOCKS ((ClockRange) {ZBXHIST_CLOCK_MIN, ZBXHIST_CLOCK_END})

/* have two structs with from_clock and to_clock a clock in common? */
#define clocks_overlap(a, b) \
	((a)->from_clock < (b)->to_clock && (b)->from_clock < (a)->to_clock)

typedef struct PartitionBounds
{
	Oid			relid;			/* the partition */
	int64		from_clock;		/* first clock it holds */
	int64		to_clock;		/* first clock after it */
	bool		is_verified;	/* the parent has none of its rows */
	bool		is_compared;	/* the next one is known */
	bool		has_same_keys;	/* as the parent, see ingest/key_match.c */
} PartitionBounds;

extern bool ZbxhistHasOnlyBounds(TupleDesc desc);
extern bool ZbxhistReadBounds(Oid relid, PartitionBounds *bounds);
extern PartitionBounds *ZbxhistReadPartitions(Oid parent, int *npartitions);

#endif							/* ZBXHIST_BOUNDS_H */
