/*-------------------------------------------------------------------------
 *
 * segment_reader.c
 *	  Reads groups of segments.
 *
 * The bytes are not trusted.  Nothing beyond their end is read, and no more memory is
 * allocated than that many rows can need.  Checksums are verified first: that of the
 * directory when a group is opened, that of a segment when it is decoded.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "binary_search.h"
#include "format/segment_format.h"

/* The checksum of a group's header and directory, which end at length. */
pg_crc32c
ZbxhistGroupChecksum(const uint8 *data, size_t length)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, data, GROUP_CRC_OFFSET);
	COMP_CRC32C(crc, data + GROUP_FIXED_LENGTH, length - GROUP_FIXED_LENGTH);
	FIN_CRC32C(crc);
	return crc;
}

/* Does a group begin as one of a kind does, in a version that is known? */
static bool
is_group(const uint8 *data, size_t length, uint8 kind)
{
	return group_has_head(data, length) && data[3] == kind &&
		data[2] == GROUP_VERSION;
}

/* Takes the numbers before the directory, and the directory's bytes. */
static bool
get_header(ByteReader *bytes, ByteReader *directory, GroupReader *reader,
		   uint8 kind)
{
	const uint8 *data = reader->data;
	uint64		ncolumns,
				nsegments;

	if (!is_group(data, reader->nhere, kind))
		return false;
	bytes->next = data + GROUP_FIXED_LENGTH;
	bytes->end = data + reader->nhere;
	if (!ZbxhistGetVarint(bytes, &ncolumns) || ncolumns != reader->ncolumns ||
		!ZbxhistGetVarint(bytes, &nsegments) ||
		!codec_get_part(bytes, directory))
		return false;
	/* each has a byte of statistics, at least */
	if (nsegments == 0 || nsegments > codec_left(directory) ||
		nsegments > MaxAllocSize / sizeof(uint64) / DIRECTORY_NUMBERS)
		return false;
	reader->nsegments = nsegments;
	return true;
}

/* Opens a group for an item, or all if item is null; nhere bytes are there. */
static bool
open_group(GroupReader *reader, const uint8 *data, size_t nhere,
		   size_t length, int ncolumns, uint8 kind, const int64 *item)
{
	ByteReader	bytes;
	ByteReader	directory;
	size_t		header;

	memset(reader, 0, sizeof(*reader));
	if (length > PG_INT32_MAX || nhere > length || ncolumns < 1 ||
		ncolumns > PACKED_MAX_COLUMNS)
		return false;
	reader->data = data;
	reader->length = length;
	reader->nhere = nhere;
	reader->ncolumns = ncolumns;
	reader->is_whole = item == NULL;
	if (!get_header(&bytes, &directory, reader, kind))
		return false;
	header = bytes.next - data;
	return codec_load32(data + GROUP_CRC_OFFSET) ==
		ZbxhistGroupChecksum(data, header) &&
		ZbxhistGetDirectory(&directory, reader, header, item);
}

/*
 * Opens a group that must have so many columns; its bytes must stay while it
 * is read.  The directory is made in the current memory context.  Returns
 * false if the bytes are damaged, or of a version that is not known.
 */
bool
ZbxhistOpenGroup(GroupReader *reader, const uint8 *data, size_t length,
				 int ncolumns)
{
	return open_group(reader, data, length, length, ncolumns, GROUP_VALUES,
					  NULL);
}

/*
 * The same for a caller that wants only one item, unless itemid is NULL: segments of
 * others are not there, and there may be none.  If only the first nhere bytes are
 * there, no segment can be decoded.
 */
bool
ZbxhistOpenDirectory(GroupReader *reader, const uint8 *data, size_t nhere,
					 size_t length, int ncolumns, const int64 *itemid)
{
	return open_group(reader, data, nhere, length, ncolumns, GROUP_VALUES,
					  itemid);
}

/*
 * Opens a group of vectors, as above: for one, or if itemid is null,
 * for all of them.
 */
bool
ZbxhistOpenTimes(GroupReader *reader, const uint8 *data, size_t length,
				 const int64 *itemid)
{
	return open_group(reader, data, length, length, TIMES_COLUMNS,
					  GROUP_TIMES, itemid);
}

/*
 * The format of a group that could not be opened, if that is newer than those
 * that are known here; else 0: its bytes are damaged.
 */
int
ZbxhistNewerFormat(const GroupReader *reader)
{
	const uint8 *data = reader->data;

	return group_has_head(data, reader->nhere) && data[2] > GROUP_VERSION ?
		data[2] : 0;
}

/*
 * Finds the first segment that does not end before an item's clock: it is of
 * that item or a later one.  Returns the number of segments if there is none.
 */
int
ZbxhistFindSegment(const GroupReader *reader, int64 itemid, int32 clock)
{
	int			i;

	find_first(i, reader->nsegments,
			   reader->segments[i].itemid > itemid ||
			   (reader->segments[i].itemid == itemid &&
				reader->segments[i].last_clock >= clock));
	return i;
}

/* Is a segment's checksum right? */
bool
ZbxhistCheckSegment(const GroupReader *reader, int segment)
{
	const SegmentInfo *info = &reader->segments[segment];
	const uint8 *data = reader->data + info->offset;

	if (info->offset + info->length > reader->nhere)
		return false;
	return codec_load32(data) == ZbxhistSegmentChecksum(data, info->length);
}

/*
 * Decodes a segment's rows, in the columns that are wanted (null: all), into
 * arrays in the current memory context; other columns have no arrays.  Rows
 * that were decoded before stay where they are.  A column's kind is the segment's: the caller must check that it is one that
 * suits the table.  Returns false if the segment is damaged.
 */
bool
ZbxhistDecodeSegment(const GroupReader *reader, int segment,
					 const bool *wanted, SegmentRows *rows)
{
	const SegmentInfo *info = &reader->segments[segment];
	ByteReader	bytes;

	if (!ZbxhistCheckSegment(reader, segment))
		return false;
	bytes.next = reader->data + info->offset + SEGMENT_CRC_LENGTH;
	bytes.end = reader->data + info->offset + info->length;
	memset(rows, 0, sizeof(*rows));
	rows->itemid = info->itemid;
	rows->nrows = info->nrows;
	rows->ncolumns = reader->ncolumns;
	rows->columns = palloc0(rows->ncolumns * sizeof(PackedColumn));
	return ZbxhistDecodeRows(&bytes, reader, segment, wanted, rows);
}
