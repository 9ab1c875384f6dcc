/*-------------------------------------------------------------------------
 *
 * archive.h
 *	  Groups of a packed day that are stored on another server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ARCHIVE_H
#define ZBXHIST_ARCHIVE_H

#include "utils/relcache.h"
#include "utils/uuid.h"

#include "packed/format/segment_format.h"
#include "packed/runs/run_read.h"

/* fetches groups of a day, and keeps some that will be asked for next */
typedef struct ArchiveReader ArchiveReader;

/*
 * ZbxhistIsArchived says whether what is stored as a group's bytes, not
 * compressed nor out of line, says where they are.
 */
static inline bool
ZbxhistIsArchived(const struct varlena *payload)
{
	const uint8 *data = (const uint8 *) VARDATA_ANY(payload);

	return VARSIZE_ANY_EXHDR(payload) == ARCHIVED_LENGTH &&
		data[0] == GROUP_MAGIC_0 && data[1] == GROUP_MAGIC_1 &&
		data[3] == GROUP_ARCHIVED;
}

extern struct varlena *ZbxhistMakeArchived(const pg_uuid_t *copy, int64 number,
										   const struct varlena *payload);
extern struct varlena *ZbxhistFetchArchived(ArchiveReader **reader,
											MemoryContext context,
											Relation day,
											const struct varlena *archived,
											RunCounters *counters);
extern bool ZbxhistIsMissing(ArchiveReader **reader, MemoryContext context,
							 Relation day, const struct varlena *archived,
							 int64 nrows, RunCounters *counters);
extern bool ZbxhistHasArchive(Oid day);

#endif							/* ZBXHIST_ARCHIVE_H */
