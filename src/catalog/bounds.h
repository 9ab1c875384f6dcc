/*-------------------------------------------------------------------------
 *
 * bounds.h
 *	  The range of clocks a partition holds, as its constraint says it.
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

typedef struct PartitionBounds
{
	Oid			relid;			/* the partition */
	int64		from_clock;		/* first clock it holds */
	int64		to_clock;		/* first clock after it */
	bool		is_verified;	/* none of its rows is in the parent */
	bool		is_compared;	/* the next one is known */
	bool		has_same_keys;	/* as the parent, see ingest/key_match.c */
	Oid			partition;		/* of a packed day: the partition that it is
								 * being unpacked to, or InvalidOid */
	bool		is_unpacked;	/* its rows are there by now */
	int64		nrows;			/* of a packed day: about so many */
} PartitionBounds;

extern bool ZbxhistReadBounds(Oid relid, PartitionBounds *bounds);

#endif							/* ZBXHIST_BOUNDS_H */
