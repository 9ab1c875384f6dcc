/*-------------------------------------------------------------------------
 *
 * packed_days.h
 *	  Which of a parent's days are packed, and what stands for them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_PACKED_DAYS_H
#define ZBXHIST_PACKED_DAYS_H

#include "catalog/bounds.h"

/* the foreign-data wrapper of packed days, a member of the extension */
#define ZBXHIST_FDW_NAME "zbxhist"

/* the foreign table's option that names the parent, if it has no such */
#define ZBXHIST_PARENT_OPTION "parent"

extern PartitionBounds *ZbxhistReadPackedDays(Oid parent, int *ndays);
extern int	ZbxhistCountPackedDays(void);
extern bool ZbxhistDayIsUnpacked(Oid day);
extern bool ZbxhistIsPackedTable(Oid relid);

#endif							/* ZBXHIST_PACKED_DAYS_H */
