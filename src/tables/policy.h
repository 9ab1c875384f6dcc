/*-------------------------------------------------------------------------
 *
 * policy.h
 *	  What sessions that store rows must know about a parent.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_POLICY_H
#define ZBXHIST_POLICY_H

#include "nodes/pg_list.h"
#include "utils/relcache.h"

/* which clocks are left out */
typedef struct ClockLimits
{
	int64		max_age;		/* seconds, 0: none are too old */
	int64		max_ahead;		/* likewise */
	bool		keeps_rows;		/* keeps values left out for a day */
} ClockLimits;

typedef struct ParentPolicy
{
	bool		is_routing;		/* rows are routed to partitions */
	ClockLimits limits;
} ParentPolicy;

extern void ZbxhistReadPolicy(Oid parent, ParentPolicy *policy);
extern Oid	ZbxhistFindUndoneParent(void);
extern bool ZbxhistHasStrayMarks(Oid parent);
extern List *ZbxhistReadVerified(Relation parent);
extern bool ZbxhistPartitionIsSettled(Oid parent, Oid partition);

#endif							/* ZBXHIST_POLICY_H */
