/*-------------------------------------------------------------------------
 *
 * archive.h
 *	  Reads groups of packed days that are stored on another server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ARCHIVE_H
#define ZBXHIST_ARCHIVE_H

#include "utils/relcache.h"

#include "utils/snapshot.h"

/* what was fetched; shown by EXPLAIN */
typedef struct ArchiveCounters
{
	uint64		ngroups;
	uint64		nbytes;
} ArchiveCounters;

/* fetches groups of days, and keeps some that will be asked for next */
typedef struct ArchiveReader ArchiveReader;

/* says what will be next; false: nobody knows */
typedef bool (*ArchiveAhead) (void *arg);

extern void ZbxhistLimitAnswers(int limit);
extern int	ZbxhistAskArchive(Oid groups, const char *query, int nvalues,
							  Oid *types, Datum *values, const char *nulls,
							  bool read_only, long count);
extern ErrorData *ZbxhistTryCommit(bool is_atomic);
extern ArchiveReader *ZbxhistBeginArchiveReader(ArchiveAhead ahead, void *arg);
extern void ZbxhistKeepArchived(ArchiveReader *reader);
extern bool ZbxhistHasFetched(const ArchiveReader *reader,
							  const struct varlena *archived);
extern void ZbxhistRestartArchive(ArchiveReader *reader, bool reads_all);
extern bool ZbxhistWantArchived(ArchiveReader *reader, Relation day,
								const struct varlena *archived,
								bool is_descending);
extern struct varlena *ZbxhistFetchArchived(ArchiveReader *reader,
											Relation day,
											const struct varlena *archived,
											ArchiveCounters *counters);

#endif							/* ZBXHIST_ARCHIVE_H */
