/*-------------------------------------------------------------------------
 *
 * archive_day.c
 *	  Writes the table of a packed day whose groups another server has, or brings
 *	  them back.
 *
 * The groups have been copied there, in the order of the index, and read back
 * (sql/packed/archive.sql).  The new table has the rows of the old one, with a stand-in
 * for the bytes of each group (archived_group.c); rows of shared times stay as they are.
 * On the way back the bytes replace the stand-ins, after their checksums were compared.
 *
 * As in pack.c, rows are written frozen, so every snapshot must see the same groups in
 * the old table.  The caller compares the table's version to make sure that it has not
 * been changed since the copy began.
 *
 * Locks: ACCESS SHARE on the old table; the caller has created the new one in
 * the same transaction.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "packed/archive.h"
#include "packed/archived_group.h"
#include "packed/day.h"
#include "packed/day_index.h"
#include "packed/day_write.h"
#include "packed/settled.h"
#include "result_row.h"
#include "tables/index_next.h"
#include "tables/owned_table.h"
#include "tables/owner_rights.h"

PG_FUNCTION_INFO_V1(zbxhist_archive_rows);

typedef struct ArchiveState
{
	Relation	day;
	Relation	new_day;
	const pg_uuid_t *copy;		/* the copy with the groups; NULL: the day is
								 * unarchived */
	ArchiveReader *archive;		/* that brings them */
	DayWriter  *writer;
	DayLayout  *layout;			/* of both tables */
	TupleTableSlot *slot;		/* row of the old table */
	int64		ngroups;		/* without shared times */
	int64		nrows;
	MemoryContext context;		/* reset with each row */
} ArchiveState;

/*
 * StandIn returns the stand-in for the bytes of a group.
 */
static struct varlena *
StandIn(const ArchiveState *state, const struct varlena *payload)
{
	if (ZbxhistIsArchived(payload))
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("packed day \"%s\" is archived already",
					   RelationGetRelationName(state->day)),
				errtable(state->day));
	return ZbxhistMakeArchived(state->copy, state->ngroups, payload,
							   state->layout->npacked);
}

/*
 * NewPayload returns the payload in the new table of the group in the slot.
 */
static Datum
NewPayload(ArchiveState *state, const DayGroup *group)
{
	struct varlena *payload = (struct varlena *)
		DatumGetPointer(state->slot->tts_values[DAY_ATTNUM_PAYLOAD - 1]);

	if (ZbxhistHoldsTimes(group))
		return PointerGetDatum(payload);
	payload = pg_detoast_datum_packed(payload);
	state->ngroups++;
	state->nrows += group->nrows;
	if (state->copy != NULL)
		payload = StandIn(state, payload);
	else if (ZbxhistIsArchived(payload))
		payload = ZbxhistFetchArchived(state->archive, state->day, payload,
									   NULL);
	return PointerGetDatum(payload);
}

/*
 * WriteRow writes the row in the slot to the new table.
 */
static void
WriteRow(ArchiveState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->context);
	DayGroup	group;

	CHECK_FOR_INTERRUPTS();
	if (!ZbxhistReadPlace(state->slot, &group) ||
		!ZbxhistHasPayload(state->day, state->slot))
		ZbxhistRaiseCorrupt(state->day, 0);
	ZbxhistDayWriteStored(state->writer, &group, NewPayload(state, &group));
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->context);
}

/*
 * WriteNewDay writes all rows of the old table, in the order of its index.
 */
static void
WriteNewDay(ArchiveState *state)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	Relation	index = ZbxhistOpenGroupIndex(state->day);
	IndexScanDesc scan = index_beginscan_compat(state->day, index, snapshot, 0);

	state->context = AllocSetContextCreate(CurrentMemoryContext,
										   "zbxhist archived group",
										   ALLOCSET_DEFAULT_SIZES);
	state->archive = ZbxhistBeginArchiveReader(NULL, NULL);
	state->slot = table_slot_create(state->day, NULL);
	state->layout = ZbxhistDayLayout(state->new_day);
	state->writer = ZbxhistBeginDayWrite(state->new_day, state->layout, true);
	index_rescan(scan, NULL, 0, NULL, 0);
	while (index_next(scan, ForwardScanDirection, state->slot))
		WriteRow(state);
	ExecDropSingleTupleTableSlot(state->slot);
	index_endscan(scan);
	index_close(index, NoLock);
	UnregisterSnapshot(snapshot);
	ZbxhistEndDayWrite(state->writer, NULL);
	MemoryContextDelete(state->context);
}

/*
 * zbxhist_archive_rows(day, new_day, copy) writes the table of an archived day or,
 * without copy, of a day that is brought back; see sql/packed/archive.sql.
 */
Datum
zbxhist_archive_rows(PG_FUNCTION_ARGS)
{
	ArchiveState state = {.copy = PG_NARGS() > 2 ? PG_GETARG_UUID_P(2) : NULL};
	Datum		values[3];
	bool		nulls[3] = {false};
	DayVersion	version;
	OwnerRights before;

	state.day = ZbxhistOpenOwnedTable(PG_GETARG_OID(0), AccessShareLock);
	state.new_day = ZbxhistOpenOwnedTable(PG_GETARG_OID(1), RowExclusiveLock);
	ZbxhistRequireNewDay(state.new_day);
	ZbxhistReadDayVersion(state.day, &version);
	ZbxhistTakeOwnerRights(&before, state.new_day->rd_rel->relowner);
	WriteNewDay(&state);
	ZbxhistGiveBackRights(&before);
	values[0] = Int64GetDatum(state.nrows);
	values[1] = Int64GetDatum(state.ngroups);
	values[2] = Int64GetDatum((int64) version.number);
	table_close(state.new_day, NoLock);
	table_close(state.day, NoLock);
	return result_row(fcinfo, values, nulls);
}
