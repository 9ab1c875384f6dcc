/*-------------------------------------------------------------------------
 *
 * archive_query.h
 *	  The query for groups of packed days that are stored on other servers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ARCHIVE_QUERY_H
#define ZBXHIST_ARCHIVE_QUERY_H

#include "utils/uuid.h"

/* ranges of groups that a query fetches, at most */
#define MAX_RANGES 64

/* groups of a copy */
typedef struct GroupRange
{
	Oid			groups;			/* the foreign table */
	pg_uuid_t	copy;
	int64		first;			/* number */
	int64		last;
} GroupRange;

extern void ZbxhistQueryRanges(GroupRange *ranges, int nranges);

#endif							/* ZBXHIST_ARCHIVE_QUERY_H */
