/*-------------------------------------------------------------------------
 *
 * run_itemids.h
 *	  The itemids of a run's rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_ITEMIDS_H
#define ZBXHIST_RUN_ITEMIDS_H

#include "packed/format/codec.h"

extern void ZbxhistPutItemids(ByteBuffer *buffer, const int64 *itemids, int n);

/*
 * These take what ZbxhistPutItemids() has added, to the end of the bytes: all
 * n itemids, in an array in the current memory context, or which rows are an
 * item's, none perhaps.  items becomes which of the distinct itemids these are.
 */
extern int64 *ZbxhistGetItemids(ByteReader bytes, int n, Slice *items);
extern bool ZbxhistFindItemid(ByteReader bytes, int n, int64 itemid,
							  Slice *rows, Slice *items);

#endif							/* ZBXHIST_RUN_ITEMIDS_H */
