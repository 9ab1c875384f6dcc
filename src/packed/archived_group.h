/*-------------------------------------------------------------------------
 *
 * archived_group.h
 *	  The stand-in in a packed day for a group that is stored on another server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ARCHIVED_GROUP_H
#define ZBXHIST_ARCHIVED_GROUP_H

#include "access/htup_details.h"
#include "utils/uuid.h"

#include "format/segment_format.h"

/* the stand-in for a group */
typedef struct ArchivedGroup
{
	pg_uuid_t	copy;			/* of the day, whose rows there have it */
	int64		number;			/* of the row */
	uint32		length;			/* bytes of the group */
	pg_crc32c	crc;			/* ... and their checksum */
} ArchivedGroup;

/*
 * ZbxhistIsArchived says whether a payload, which is neither compressed nor out of
 * line, is the stand-in for an archived group.
 */
static inline bool
ZbxhistIsArchived(const struct varlena *payload)
{
	const uint8 *data = (const uint8 *) VARDATA_ANY(payload);

	return VARSIZE_ANY_EXHDR(payload) >= ARCHIVED_LENGTH &&
		group_has_head(data, ARCHIVED_LENGTH) && data[3] == GROUP_ARCHIVED;
}

extern struct varlena *ZbxhistMakeArchived(const pg_uuid_t *copy, int64 number,
										   const struct varlena *payload,
										   int ncolumns);
extern const uint8 *ZbxhistArchivedDirectory(const struct varlena *archived,
											 size_t *nhere, size_t *length);
extern void ZbxhistReadArchived(const struct varlena *archived,
								ArchivedGroup *group);
extern bool ZbxhistIsGroup(const ArchivedGroup *group,
						   const struct varlena *bytes);

#endif							/* ZBXHIST_ARCHIVED_GROUP_H */
