/*-------------------------------------------------------------------------
 *
 * day_stream.h
 *	  The segments of a packed day, one after the other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_STREAM_H
#define ZBXHIST_DAY_STREAM_H

#include "utils/snapshot.h"

#include "packed/day.h"

typedef struct DayStream
{
	Relation	day;
	const DayLayout *layout;
	DayScan    *scan;
	DayGroup	group;			/* the current one */
	int			segment;		/* of the group; -1 after the last one */
	int64		ngroups;		/* so far */
	uint64		nbytes;			/* of them */
} DayStream;

extern DayStream *ZbxhistOpenDayStream(Relation day, const DayLayout *layout,
									   Snapshot snapshot);
extern void ZbxhistDayStreamNext(DayStream *stream);
extern void ZbxhistCloseDayStream(DayStream *stream);
extern void ZbxhistVerifyWritten(Relation day, const DayLayout *layout,
								 uint64 nrows, uint64 checksum,
								 void (*note) (void *arg, uint64 nbytes),
								 void *arg);

/* the current segment, NULL after the last one */
static inline const SegmentInfo *
day_stream_segment(const DayStream *stream)
{
	return stream->segment < 0 ? NULL :
		&stream->group.reader.segments[stream->segment];
}

#endif							/* ZBXHIST_DAY_STREAM_H */
