/*-------------------------------------------------------------------------
 *
 * open_source.c
 *	  The rows of one table as rows of its parent, for a reader.
 *
 * Memory is in the context that is current when a source is opened; relations
 * and scans belong to the resource owner of that moment.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/rel.h"

#include "read/open_source.h"

/*
 * NeedsConversion says whether tuples of a table cannot be handed out as
 * tuples of the parent: other places of the columns, or columns that were
 * added without rewriting the table.
 */
static bool
NeedsConversion(OpenSource *open, TupleDesc desc)
{
	return open->map != NULL ||
		(desc->constr != NULL && desc->constr->missing != NULL);
}

/*
 * ZbxhistOpenTable makes a source of an opened and locked table.
 */
OpenSource *
ZbxhistOpenTable(Relation rel, Relation parent, Snapshot snapshot)
{
	OpenSource *open = palloc0(sizeof(OpenSource));

	open->relid = RelationGetRelid(rel);
	open->map = convert_tuples_by_name(RelationGetDescr(rel),
									   RelationGetDescr(parent));
	open->is_converted = NeedsConversion(open, RelationGetDescr(rel));
	if (open->is_converted)
		open->converted = MakeSingleTupleTableSlot(RelationGetDescr(parent),
												   &TTSOpsVirtual);
	open->source = ZbxhistOpenHeapSource(rel, snapshot);
	return open;
}

/*
 * ZbxhistStartSource begins to read a range.
 */
void
ZbxhistStartSource(OpenSource *open, const ItemRange *range)
{
	open->source->methods->start(open->source, range);
	open->is_behind = true;
}

/*
 * ZbxhistSourceSlot returns the present row with the parent's columns, which
 * desc describes; it is good until the source goes on.
 */
TupleTableSlot *
ZbxhistSourceSlot(OpenSource *open, TupleDesc desc)
{
	TupleTableSlot *slot = open->source->slot;

	if (!open->is_converted)
		return slot;
	if (open->map != NULL)
		return execute_attr_map_slot(open->map->attrMap, slot,
									 open->converted);
	slot_getallattrs(slot);
	ExecClearTuple(open->converted);
	memcpy(open->converted->tts_values, slot->tts_values,
		   sizeof(Datum) * desc->natts);
	memcpy(open->converted->tts_isnull, slot->tts_isnull,
		   sizeof(bool) * desc->natts);
	return ExecStoreVirtualTuple(open->converted);
}

/*
 * ZbxhistCloseSource closes and frees one.
 */
void
ZbxhistCloseSource(OpenSource *open)
{
	if (open->converted != NULL)
		ExecDropSingleTupleTableSlot(open->converted);
	if (open->map != NULL)
		free_conversion_map(open->map);
	open->source->methods->close(open->source);
	pfree(open);
}
