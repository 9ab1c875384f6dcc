/*-------------------------------------------------------------------------
 *
 * known_batches.h
 *	  Batches of runs that this session has met.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_KNOWN_BATCHES_H
#define ZBXHIST_KNOWN_BATCHES_H

/* a batch that was there when it was met last */
typedef struct KnownBatch
{
	int64		number;
	int64		width;			/* itemids of one of its runs; 0: not known */
} KnownBatch;

extern const KnownBatch *ZbxhistKnownBatchBefore(Oid relid, int64 number);
extern void ZbxhistRememberBatch(Oid relid, int64 number, int64 width);
extern void ZbxhistForgetBatch(Oid relid, int64 number);

#endif							/* ZBXHIST_KNOWN_BATCHES_H */
