/*-------------------------------------------------------------------------
 *
 * stray.h
 *	  Rows that a partition could hold but the parent does.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_STRAY_H
#define ZBXHIST_STRAY_H

#include "utils/relcache.h"

extern void ZbxhistNoteStray(Relation parent);
extern void ZbxhistNoteStrayOnce(Relation parent, bool *is_noted);
extern bool ZbxhistHasNoStrays(Relation parent, Oid partition);

#endif							/* ZBXHIST_STRAY_H */
