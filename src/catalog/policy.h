/*-------------------------------------------------------------------------
 *
 * policy.h
 *	  What sessions that store rows have to know of a parent.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_POLICY_H
#define ZBXHIST_POLICY_H

#include "nodes/pg_list.h"
#include "utils/relcache.h"

typedef struct ParentPolicy
{
	bool		is_routing;		/* rows may leave the parent */
	bool		has_marks;		/* strays have been stored since verification */
	List	   *verified;		/* Oids of partitions that surely have no rows
								 * in the parent */
} ParentPolicy;

extern void ZbxhistReadPolicy(Relation parent, ParentPolicy *policy);
extern bool ZbxhistPartitionIsSettled(Oid parent, Oid partition);

#endif							/* ZBXHIST_POLICY_H */
