/*-------------------------------------------------------------------------
 *
 * settled.h
 *	  A look through a table whose rows every snapshot must see alike.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SETTLED_H
#define ZBXHIST_SETTLED_H

#include "storage/buf.h"
#include "storage/off.h"
#include "utils/relcache.h"

typedef struct SettledScan
{
	Relation	rel;
	TransactionId oldest;		/* what was before it, all can see */
	TransactionId newest;		/* made some of the rows what they are */
} SettledScan;

extern void ZbxhistBeginSettledScan(SettledScan *scan, Relation rel);
extern int	ZbxhistSettledRows(SettledScan *scan, Buffer buffer,
							   OffsetNumber *offsets);

#endif							/* ZBXHIST_SETTLED_H */
