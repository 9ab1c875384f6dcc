/*-------------------------------------------------------------------------
 *
 * day_conflicts.h
 *	  Conflicts of serializable transactions over packed days.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_CONFLICTS_H
#define ZBXHIST_DAY_CONFLICTS_H

#include "utils/relcache.h"
#include "utils/snapshot.h"

extern void ZbxhistNotePackedRead(Relation parent, Snapshot snapshot);
extern void ZbxhistCheckPackedChange(Oid day, Snapshot snapshot);
extern void ZbxhistNotePackedChange(Oid day, int64 removed);

#endif							/* ZBXHIST_DAY_CONFLICTS_H */
