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

#include "compat.h"

extern void ZbxhistNotePackedRead(Relation parent, Snapshot snapshot);
extern void ZbxhistCheckPackedChange(Oid day, Snapshot snapshot);
extern void ZbxhistNotePackedChange(Oid day, int64 removed);
pg_noreturn extern void ZbxhistRaiseChanged(void);
pg_noreturn extern void ZbxhistRaiseSecondChange(Relation day);

#endif							/* ZBXHIST_DAY_CONFLICTS_H */
