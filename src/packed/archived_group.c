/*-------------------------------------------------------------------------
 *
 * archived_group.c
 *	  The stand-in in a packed day for a group that is stored on another server.
 *
 * An archived day keeps its table and its index, so its groups are found as in any
 * other day.  The table has a stand-in for the bytes of each group: which row of the
 * foreign table has them, their length and their checksum.  That makes it a fiftieth
 * of its former size.  Groups that are changed later are stored here again.  Vectors
 * of shared times stay here.
 *
 * The directory of a group stays, too, unless it is large: then queries that need the
 * directory only do not contact the archive (archive.c).
 *
 * Results are allocated in the current memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "packed/archived_group.h"

/* a directory stays here if it takes at most such a part of the group */
#define MAX_DIRECTORY_PART 8

/*
 * Checksum returns the checksum of a group's bytes.
 */
static pg_crc32c
Checksum(const struct varlena *payload)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, VARDATA_ANY(payload), VARSIZE_ANY_EXHDR(payload));
	FIN_CRC32C(crc);
	return crc;
}

/*
 * DirectoryEnd returns how many bytes of a group stay here: those up to the end of
 * its directory, or none if the directory is large or cannot be read.
 */
static Size
DirectoryEnd(const uint8 *data, Size length, int ncolumns)
{
	GroupReader reader;

	if (!ZbxhistOpenGroup(&reader, data, length, ncolumns) ||
		reader.segments[0].offset > length / MAX_DIRECTORY_PART)
		return 0;
	return reader.segments[0].offset;
}

/*
 * ZbxhistMakeArchived makes the stand-in for a group of so many columns, whose bytes
 * are payload.
 */
struct varlena *
ZbxhistMakeArchived(const pg_uuid_t *copy, int64 number,
					const struct varlena *payload, int ncolumns)
{
	const uint8 *bytes = (const uint8 *) VARDATA_ANY(payload);
	Size		length = VARSIZE_ANY_EXHDR(payload);
	Size		directory = DirectoryEnd(bytes, length, ncolumns);
	Size		size = VARHDRSZ + ARCHIVED_LENGTH + directory;
	struct varlena *result = palloc0(size);
	uint8	   *data = (uint8 *) VARDATA(result);

	SET_VARSIZE(result, size);
	group_put_head(data, GROUP_ARCHIVED);
	codec_store32(data + GROUP_CRC_OFFSET, Checksum(payload));
	memcpy(data + ARCHIVED_COPY_OFFSET, copy->data, UUID_LEN);
	codec_store64(data + ARCHIVED_NUMBER_OFFSET, (uint64) number);
	codec_store32(data + ARCHIVED_LENGTH_OFFSET, length);
	memcpy(data + ARCHIVED_LENGTH, bytes, directory);
	return result;
}

/*
 * ZbxhistArchivedDirectory returns the bytes of a group that its stand-in has.  Sets
 * nhere to their number, which may be 0, and length to that of all the group's bytes.
 */
const uint8 *
ZbxhistArchivedDirectory(const struct varlena *archived, size_t *nhere,
						 size_t *length)
{
	const uint8 *data = (const uint8 *) VARDATA_ANY(archived);

	*nhere = VARSIZE_ANY_EXHDR(archived) - ARCHIVED_LENGTH;
	*length = codec_load32(data + ARCHIVED_LENGTH_OFFSET);
	return data + ARCHIVED_LENGTH;
}

/*
 * ZbxhistReadArchived reads the stand-in for a group.
 */
void
ZbxhistReadArchived(const struct varlena *archived, ArchivedGroup *group)
{
	const uint8 *data = (const uint8 *) VARDATA_ANY(archived);

	group->crc = codec_load32(data + GROUP_CRC_OFFSET);
	memcpy(group->copy.data, data + ARCHIVED_COPY_OFFSET, UUID_LEN);
	group->number = (int64) codec_load64(data + ARCHIVED_NUMBER_OFFSET);
	group->length = codec_load32(data + ARCHIVED_LENGTH_OFFSET);
}

/*
 * ZbxhistIsGroup says whether bytes are those of a group.
 */
bool
ZbxhistIsGroup(const ArchivedGroup *group, const struct varlena *bytes)
{
	return VARSIZE_ANY_EXHDR(bytes) == group->length &&
		Checksum(bytes) == group->crc;
}
