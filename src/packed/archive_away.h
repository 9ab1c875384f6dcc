/*-------------------------------------------------------------------------
 *
 * archive_away.h
 *	  Statements that go on without an archive server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ARCHIVE_AWAY_H
#define ZBXHIST_ARCHIVE_AWAY_H

#include "executor/execdesc.h"
#include "utils/relcache.h"

extern bool ZbxhistBeginReading(const QueryDesc *query);
extern void ZbxhistEndReading(bool outer);
extern void ZbxhistTellMissing(void);
extern bool ZbxhistMayMiss(void);
extern bool ZbxhistReachServer(Oid server, void (*fetch) (void *), void *arg);
extern bool ZbxhistMayAskToo(Oid server);
extern void ZbxhistNoteMissing(Oid server, Relation day, int64 nrows);

#endif							/* ZBXHIST_ARCHIVE_AWAY_H */
