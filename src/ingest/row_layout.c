/*-------------------------------------------------------------------------
 *
 * row_layout.c
 *	  Forms many tuples of one row type.
 *
 * The rows of history and of trends consist of numbers of fixed width, so all
 * tuples without nulls are alike but for the numbers.  One is formed by
 * heap_form_tuple; each further one is a copy of it with its own numbers put
 * at the same offsets, for a quarter of the instructions.  For any other row
 * type, and for rows with nulls, heap_form_tuple does it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"

#include "ingest/row_layout.h"

/* for fewer rows the preparation costs more than it saves */
#define MIN_ROWS 4

typedef struct FixedColumn
{
	int			offset;			/* in the tuple's data */
	int			len;
} FixedColumn;

struct RowLayout
{
	TupleDesc	desc;			/* borrowed */
	HeapTuple	pattern;		/* a tuple in one chunk; NULL: not all alike */
	FixedColumn columns[FLEXIBLE_ARRAY_MEMBER];
};

/*
 * PlaceColumns finds the offsets of the columns; returns false if they are
 * not the same in all rows without nulls, or not passed by value.
 */
static bool
PlaceColumns(TupleDesc desc, FixedColumn *columns)
{
	int			offset = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		/* dropped ones are null in every row */
		if (attribute->attisdropped || !attribute->attbyval ||
			attribute->attlen <= 0)
			return false;
		offset = att_align_nominal(offset, attribute->attalign);
		columns[i].offset = offset;
		columns[i].len = attribute->attlen;
		offset += attribute->attlen;
	}
	return true;
}

/*
 * FormPattern forms a tuple of zeros.
 */
static HeapTuple
FormPattern(TupleDesc desc)
{
	Datum	   *values = palloc0(sizeof(Datum) * desc->natts);
	bool	   *nulls = palloc0(sizeof(bool) * desc->natts);
	HeapTuple	result = heap_form_tuple(desc, values, nulls);

	pfree(values);
	pfree(nulls);
	return result;
}

/*
 * ZbxhistDescribeRow prepares the forming of nrows tuples of a row type, which
 * has to live as long as the result.  That is in the current memory context.
 */
RowLayout *
ZbxhistDescribeRow(TupleDesc desc, int nrows)
{
	RowLayout  *layout = palloc(offsetof(RowLayout, columns) +
								sizeof(FixedColumn) * desc->natts);

	layout->desc = desc;
	layout->pattern = NULL;
	if (nrows >= MIN_ROWS && PlaceColumns(desc, layout->columns))
		layout->pattern = FormPattern(desc);
	return layout;
}

/*
 * ZbxhistFormRow forms a tuple in the current memory context, the same that
 * heap_form_tuple would.
 */
HeapTuple
ZbxhistFormRow(const RowLayout *layout, const Datum *values, const bool *nulls)
{
	int			natts = layout->desc->natts;
	HeapTuple	tuple;
	char	   *data;

	if (layout->pattern == NULL || memchr(nulls, true, natts) != NULL)
		return heap_form_tuple(layout->desc, unconstify(Datum *, values),
							   unconstify(bool *, nulls));

	tuple = heap_copytuple(layout->pattern);
	data = (char *) tuple->t_data + tuple->t_data->t_hoff;
	for (int i = 0; i < natts; i++)
		store_att_byval(data + layout->columns[i].offset, values[i],
						layout->columns[i].len);
	return tuple;
}
