/*-------------------------------------------------------------------------
 *
 * open_source.h
 *	  The rows of one table as rows of its parent, for a reader.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_OPEN_SOURCE_H
#define ZBXHIST_OPEN_SOURCE_H

#include "access/tupconvert.h"
#include "executor/tuptable.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "rows/source.h"

/* a source, and how its rows become rows of the parent */
typedef struct OpenSource
{
	ItemSource *source;
	Oid			relid;			/* InvalidOid: packed days, whose rows are of
								 * the parent's row type */
	bool		is_behind;		/* its next row has not been asked for yet */
	bool		is_converted;	/* rows go through converted */
	TupleConversionMap *map;	/* NULL: same columns at the same places */
	TupleTableSlot *converted;
} OpenSource;

/*
 * has_row says whether a source has a row that has not been given out, going
 * to it if need be.
 */
static inline bool
has_row(OpenSource *open)
{
	if (open->is_behind)
	{
		open->source->methods->next(open->source);
		open->is_behind = false;
	}
	return open->source->has_row;
}

extern OpenSource *ZbxhistOpenTable(Relation rel, Relation parent,
									Snapshot snapshot);
extern void ZbxhistStartSource(OpenSource *open, const ItemRange *range);
extern TupleTableSlot *ZbxhistSourceSlot(OpenSource *open, TupleDesc desc);
extern void ZbxhistCloseSource(OpenSource *open);

#endif							/* ZBXHIST_OPEN_SOURCE_H */
