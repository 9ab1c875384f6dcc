/*-------------------------------------------------------------------------
 *
 * day_decode.h
 *	  Checks the bytes of a day's table before they become values of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_DECODE_H
#define ZBXHIST_DAY_DECODE_H

#include "compat.h"
#include "format/layout.h"

/* a group that has been found, valid until the next one */
typedef struct DayGroup
{
	ItemPointerData tid;
	int64		first_itemid;
	int32		first_clock;
	int64		last_itemid;
	int32		last_clock;
	int32		nrows;
	GroupReader reader;			/* open; its bytes are the scan's */
} DayGroup;

extern bool ZbxhistReadPlace(TupleTableSlot *slot, DayGroup *group);
extern TransactionId ZbxhistDeletedBy(TupleTableSlot *slot);
extern bool ZbxhistHasPayload(Relation day, TupleTableSlot *slot);
extern bool ZbxhistGroupAgrees(const DayGroup *group);

/*
 * decodes a segment of a group for its layout's columns; raises XX001 if it
 * is corrupt.  Allocates in the current context
 */
extern void ZbxhistDecodeDaySegment(Relation day, const DayLayout *layout,
									const GroupReader *reader, int segment,
									const bool *wanted, SegmentRows *rows);

extern const char *ZbxhistWhyNotDecoded(const DayLayout *layout,
										const GroupReader *reader,
										int segment, SegmentRows *rows);
extern void ZbxhistRequireKnown(Relation day, const LayoutColumn *column);
extern int	ZbxhistFindWrong(const LayoutColumn *column,
							 const SegmentRows *rows, int first);

/* raises XX001 naming the day's table and the item */
pg_noreturn extern void ZbxhistRaiseCorrupt(Relation day, int64 itemid);
pg_noreturn extern void ZbxhistRaiseNotOpened(Relation day, int64 itemid,
											  const GroupReader *reader);
extern const char *ZbxhistWhyNotOpened(const GroupReader *reader);

#endif							/* ZBXHIST_DAY_DECODE_H */
