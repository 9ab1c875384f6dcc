/*-------------------------------------------------------------------------
 *
 * row_layout.h
 *	  Forms many tuples of one row type.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROW_LAYOUT_H
#define ZBXHIST_ROW_LAYOUT_H

#include "access/htup.h"
#include "access/tupdesc.h"

typedef struct RowLayout RowLayout;

extern RowLayout *ZbxhistDescribeRow(TupleDesc desc, int nrows);
extern HeapTuple ZbxhistFormRow(const RowLayout *layout, const Datum *values,
								const bool *nulls);

#endif							/* ZBXHIST_ROW_LAYOUT_H */
