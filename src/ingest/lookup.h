/*-------------------------------------------------------------------------
 *
 * lookup.h
 *	  Keys of a parent's rows, looked for wherever else they may be.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_LOOKUP_H
#define ZBXHIST_LOOKUP_H

#include "ingest/key_look.h"

extern bool ZbxhistLockForInsert(Oid relid);
extern void ZbxhistCheckKeys(Relation parent, const KeyRows *rows,
							 bool *has_strays);
extern bool ZbxhistKeyIsElsewhere(Relation parent, const KeyRows *row,
								  Oid *relid);
extern void ZbxhistRequireSeenKey(Relation parent, const KeyRows *row);

#endif							/* ZBXHIST_LOOKUP_H */
