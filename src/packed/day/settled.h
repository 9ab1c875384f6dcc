/*-------------------------------------------------------------------------
 *
 * settled.h
 *	  A look through a table whose rows every snapshot must see alike.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SETTLED_H
#define ZBXHIST_SETTLED_H

#include "access/htup.h"
#include "utils/relcache.h"

extern TransactionId ZbxhistReadSettled(Relation rel,
										void (*visit) (void *arg, HeapTuple row),
										void *arg);

#endif							/* ZBXHIST_SETTLED_H */
