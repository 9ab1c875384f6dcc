/*-------------------------------------------------------------------------
 *
 * fresh_snapshot.h
 *	  Statements whose snapshot is older than their locks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_FRESH_SNAPSHOT_H
#define ZBXHIST_FRESH_SNAPSHOT_H

#include "executor/execdesc.h"

extern void ZbxhistPrepareChange(QueryDesc *query);

#endif							/* ZBXHIST_FRESH_SNAPSHOT_H */
