/*-------------------------------------------------------------------------
 *
 * day_stream.c
 *	  The segments of a packed day, one after the other.
 *
 * The segments come in the order of item and clock, by the index.  A group that does not
 * agree with its directory, or does not begin after the end of the group before, is
 * corrupt.
 *
 * Locks: the caller has locked the day's table.  Memory: one group.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "format/row_compare.h"
#include "packed/day_stream.h"

/*
 * NextStreamGroup goes to the first segment of the next group.
 */
static void
NextStreamGroup(DayStream *stream)
{
	DayGroup   *group = &stream->group;
	int64		last_itemid = group->last_itemid;
	int32		last_clock = group->last_clock;

	stream->segment = -1;
	if (!ZbxhistDayScanNext(stream->scan, group))
		return;
	if (stream->ngroups > 0 &&
		compare_places(group->first_itemid, group->first_clock, last_itemid,
					   last_clock) <= 0)
		ZbxhistRaiseCorrupt(stream->day, group->first_itemid);
	stream->nbytes += group->reader.length;
	stream->ngroups++;
	stream->segment = 0;
}

/*
 * ZbxhistOpenDayStream makes a stream of a day's table and goes to its first
 * segment.  The snapshot must stay registered, and day open, until it is
 * closed.  Allocates in the current context.
 */
DayStream *
ZbxhistOpenDayStream(Relation day, const DayLayout *layout, Snapshot snapshot)
{
	DayStream  *stream = palloc0(sizeof(DayStream));

	stream->day = day;
	stream->layout = layout;
	stream->scan = ZbxhistBeginDayScan(day, layout, snapshot);
	ZbxhistDayScanPlaces(stream->scan);
	NextStreamGroup(stream);
	return stream;
}

/*
 * ZbxhistDayStreamNext goes to the next segment.
 */
void
ZbxhistDayStreamNext(DayStream *stream)
{
	Assert(stream->segment >= 0);
	if (++stream->segment == stream->group.reader.nsegments)
		NextStreamGroup(stream);
}

/*
 * ZbxhistCloseDayStream closes the stream; locks stay.
 */
void
ZbxhistCloseDayStream(DayStream *stream)
{
	ZbxhistEndDayScan(stream->scan);
	pfree(stream);
}

/*
 * ZbxhistVerifyWritten reads a day that this command has written and makes sure that it
 * has so many rows with that checksum.  The callback note, unless it is NULL, is given
 * the number of bytes read since its last call.
 */
void
ZbxhistVerifyWritten(Relation day, const DayLayout *layout, uint64 nrows,
					 uint64 checksum, void (*note) (void *arg, uint64 nbytes),
					 void *arg)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist verified segment",
												  ALLOCSET_DEFAULT_SIZES);
	Snapshot	snapshot;
	DayStream  *stream;
	uint64		nread = 0;
	uint64		read_checksum = 0;
	uint64		nbytes = 0;

	CommandCounterIncrement();
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	stream = ZbxhistOpenDayStream(day, layout, snapshot);
	while (day_stream_segment(stream) != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(context);
		SegmentRows rows;

		ZbxhistDecodeDaySegment(day, layout, &stream->group.reader,
								stream->segment, NULL, &rows);
		nread += rows.nrows;
		read_checksum += ZbxhistHashRows(&rows);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
		ZbxhistDayStreamNext(stream);
		if (note != NULL)
			note(arg, stream->nbytes - nbytes);
		nbytes = stream->nbytes;
	}
	ZbxhistCloseDayStream(stream);
	UnregisterSnapshot(snapshot);
	MemoryContextDelete(context);
	if (nread != nrows || read_checksum != checksum)
		ereport(ERROR,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("packed day \"%s\" has been written wrongly: " UINT64_FORMAT " rows of " UINT64_FORMAT,
					   RelationGetRelationName(day), nread, nrows),
				errtable(day));
}
