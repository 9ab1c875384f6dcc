/*-------------------------------------------------------------------------
 *
 * seen_key.h
 *	  Whether the transaction's snapshot sees a row with some key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SEEN_KEY_H
#define ZBXHIST_SEEN_KEY_H

#include "access/htup.h"
#include "utils/relcache.h"

extern void ZbxhistRequireSeenKey(Relation parent, HeapTuple tuple);

#endif							/* ZBXHIST_SEEN_KEY_H */
