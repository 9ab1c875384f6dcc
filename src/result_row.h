/*-------------------------------------------------------------------------
 *
 * result_row.h
 *	  The row that a function of SQL returns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RESULT_ROW_H
#define ZBXHIST_RESULT_ROW_H

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"

/*
 * result_row makes the row that a function returns.
 */
static inline Datum
result_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
											 nulls));
}

#endif							/* ZBXHIST_RESULT_ROW_H */
