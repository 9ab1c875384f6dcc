/*-------------------------------------------------------------------------
 *
 * kept_items.h
 *	  The items whose rows are written when a day is packed or written anew.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_KEPT_ITEMS_H
#define ZBXHIST_KEPT_ITEMS_H

#include "fmgr.h"

typedef struct KeptItems
{
	const int64 *items;			/* sorted */
	int			nitems;			/* 0: all are kept */
	int			next;			/* the first that is not before the last one */
	uint64		nleft_out;		/* rows that were not written */
} KeptItems;

extern void ZbxhistGetKeptItems(FunctionCallInfo fcinfo, int argument,
								KeptItems *kept);
extern bool ZbxhistKeepsRows(KeptItems *kept, int64 itemid, uint64 nrows);

#endif							/* ZBXHIST_KEPT_ITEMS_H */
