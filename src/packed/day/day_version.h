/*-------------------------------------------------------------------------
 *
 * day_version.h
 *	  Whether a packed day has been changed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_VERSION_H
#define ZBXHIST_DAY_VERSION_H

#include "utils/relcache.h"

typedef struct DayVersion
{
	uint64		number;			/* another one when groups have been changed */
	TransactionId newest;		/* has stored or deleted some */
	int64		ngroups;
	uint64		nbytes;			/* of the groups */
} DayVersion;

extern void ZbxhistReadDayVersion(Relation day, DayVersion *version);

#endif							/* ZBXHIST_DAY_VERSION_H */
