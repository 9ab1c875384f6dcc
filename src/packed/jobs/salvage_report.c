/*-------------------------------------------------------------------------
 *
 * salvage_report.c
 *	  What could not be salvaged, as rows of a set.
 *
 * Rows of an item that follow each other and have the same problem are one
 * row.  The first one about a group, or a page, has its bytes, for somebody
 * may make more of them some day.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "packed/jobs/salvage.h"

/* the columns of zbxhist_internal.salvage_rows */
enum
{
	LOSS_FIRST_ITEMID,
	LOSS_FIRST_CLOCK,
	LOSS_LAST_ITEMID,
	LOSS_LAST_CLOCK,
	LOSS_IS_END,
	LOSS_ROWS,
	LOSS_PROBLEM,
	LOSS_BYTES,
	LOSS_COLUMNS
};

/*
 * PutBytes puts the bytes that belong to the loss into a row, if that has not
 * been done.
 */
static void
PutBytes(LossReport *report, Datum *values, bool *nulls)
{
	struct varlena *bytes;

	if (report->bytes == NULL)
		return;
	bytes = palloc(VARHDRSZ + report->length);
	SET_VARSIZE(bytes, VARHDRSZ + report->length);
	memcpy(VARDATA(bytes), report->bytes, report->length);
	values[LOSS_BYTES] = PointerGetDatum(bytes);
	nulls[LOSS_BYTES] = false;
	report->bytes = NULL;
}

/*
 * WriteLast writes the loss that is being collected.
 */
static void
WriteLast(LossReport *report)
{
	const Loss *loss = &report->last;
	Datum		values[LOSS_COLUMNS] = {0};
	bool		nulls[LOSS_COLUMNS];

	if (!report->has_last)
		return;
	memset(nulls, true, sizeof(nulls));
	if (loss->has_begin)
	{
		values[LOSS_FIRST_ITEMID] = Int64GetDatum(loss->first_itemid);
		values[LOSS_FIRST_CLOCK] = Int32GetDatum(loss->first_clock);
		values[LOSS_LAST_ITEMID] = Int64GetDatum(loss->last_itemid);
		values[LOSS_LAST_CLOCK] = Int32GetDatum(loss->last_clock);
		memset(nulls, false, sizeof(bool) * LOSS_IS_END);
	}
	values[LOSS_IS_END] = BoolGetDatum(loss->has_end);
	nulls[LOSS_IS_END] = false;
	values[LOSS_ROWS] = Int64GetDatum(loss->nrows);
	nulls[LOSS_ROWS] = loss->nrows < 0;
	values[LOSS_PROBLEM] = CStringGetTextDatum(loss->problem);
	nulls[LOSS_PROBLEM] = false;
	PutBytes(report, values, nulls);
	tuplestore_putvalues(report->rsinfo->setResult, report->rsinfo->setDesc,
						 values, nulls);
	report->has_last = false;
}

/*
 * Continues says whether a loss goes on where the last one ends.
 */
static bool
Continues(const LossReport *report, const Loss *loss)
{
	const Loss *last = &report->last;

	return report->has_last && last->has_begin && loss->has_begin &&
		last->has_end && loss->has_end &&
		last->last_itemid == loss->first_itemid &&
		loss->first_itemid == loss->last_itemid &&
		last->last_clock <= loss->first_clock &&
		last->nrows >= 0 && loss->nrows >= 0 &&
		strcmp(last->problem, loss->problem) == 0;
}

/*
 * ZbxhistReportLoss tells of values that cannot be read.  The problem must
 * stay until the report is ended.
 */
void
ZbxhistReportLoss(LossReport *report, const Loss *loss)
{
	if (Continues(report, loss))
	{
		report->last.last_clock = loss->last_clock;
		report->last.nrows += loss->nrows;
		return;
	}
	WriteLast(report);
	report->last = *loss;
	report->has_last = true;
}

/*
 * ZbxhistEndReport writes what has been told of the group or page in hand.
 */
void
ZbxhistEndReport(LossReport *report)
{
	WriteLast(report);
	report->bytes = NULL;
}

/*
 * ZbxhistReportKept tells how many values have been kept, in a row without a
 * problem.
 */
void
ZbxhistReportKept(LossReport *report, int64 nrows)
{
	Datum		values[LOSS_COLUMNS] = {0};
	bool		nulls[LOSS_COLUMNS];

	memset(nulls, true, sizeof(nulls));
	values[LOSS_ROWS] = Int64GetDatum(nrows);
	nulls[LOSS_ROWS] = false;
	tuplestore_putvalues(report->rsinfo->setResult, report->rsinfo->setDesc,
						 values, nulls);
}
