/*-------------------------------------------------------------------------
 *
 * day_write.h
 *	  Writes sorted rows into a day's table, as groups of segments.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_WRITE_H
#define ZBXHIST_DAY_WRITE_H

#include "utils/snapshot.h"

#include "format/day_decode.h"
#include "format/row_buffer.h"

typedef struct DayWriter DayWriter;

extern void ZbxhistRequireNewDay(Relation day);
extern DayWriter *ZbxhistBeginDayWrite(Relation day, const DayLayout *layout,
									   bool is_frozen);

/* rows come in the order of item and clock */
extern int	ZbxhistDayWriteRow(DayWriter *writer, int64 itemid, int32 clock,
							   RowBuffer **buffer);
extern void ZbxhistDayWriteTuple(DayWriter *writer, TupleSource *source,
								 int64 itemid, int32 clock, HeapTuple tuple);
extern void ZbxhistDayWriteRows(DayWriter *writer, const SegmentRows *rows,
								int first, int count);
extern void ZbxhistDayWriteSegment(DayWriter *writer,
								   const GroupReader *reader, int segment);
extern void ZbxhistDayWriteStored(DayWriter *writer, const DayGroup *group,
								  Datum payload);
extern size_t ZbxhistDayPageLimit(const DayWriter *writer);
extern void ZbxhistDayWriteBreak(DayWriter *writer);
extern void ZbxhistDeleteGroup(Relation day, ItemPointer tid,
							   Snapshot crosscheck);
extern uint64 ZbxhistEndDayWrite(DayWriter *writer, uint64 *nrows);

#endif							/* ZBXHIST_DAY_WRITE_H */
