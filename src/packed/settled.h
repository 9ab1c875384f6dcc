/*-------------------------------------------------------------------------
 *
 * settled.h
 *	  Reads a table and makes sure that every snapshot sees the same rows in it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SETTLED_H
#define ZBXHIST_SETTLED_H

#include "access/htup.h"
#include "utils/relcache.h"

typedef struct DayVersion
{
	uint64		number;			/* changes whenever groups are changed */
	TransactionId newest;		/* has stored or deleted some */
	int64		ngroups;
	uint64		nbytes;			/* of the groups */
} DayVersion;

extern void ZbxhistReadDayVersion(Relation day, DayVersion *version);
extern TransactionId ZbxhistReadSettled(Relation rel,
										void (*visit) (void *arg, HeapTuple row),
										void *arg);

#endif							/* ZBXHIST_SETTLED_H */
