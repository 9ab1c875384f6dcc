/*-------------------------------------------------------------------------
 *
 * key_look.h
 *	  Looks for the keys of a parent's rows in a table or a packed day.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_KEY_LOOK_H
#define ZBXHIST_KEY_LOOK_H

#include "access/htup.h"
#include "executor/tuptable.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "compat.h"

/* rows of a parent */
typedef struct KeyRows
{
	TupleDesc	desc;
	HeapTuple  *tuples;
	int			ntuples;
} KeyRows;

/* a key that was looked for, and where it is */
typedef struct FoundKey
{
	int			row;			/* whose key it is */
	Oid			key;			/* the parent's index */
	Oid			index;			/* the index with the same columns, for the
								 * message */
	ItemPointerData tid;		/* where it is */
	TransactionId waits_for;	/* transaction that may store or delete it */
	uint32		token;			/* of a speculative insertion, or 0 */
} FoundKey;

/* what a look has seen of the first row whose key is there */
typedef enum KeyState
{
	KEY_FREE,					/* no row has one of the keys */
	KEY_TAKEN,
	KEY_UNSURE					/* look again when waits_for, if any, ends */
} KeyState;

typedef struct KeyHolder KeyHolder;

/*
 * look starts with row found->row, and goes by what is there now, committed or not.
 * Allocates in the current context, which the caller resets.
 */
struct KeyHolder
{
	Relation	rel;			/* borrowed, locked by the caller */
	int			nrows;			/* rows whose keys are looked up; found->row
								 * is the current one */
	bool		may_be_damaged; /* damaged rows count as having no key */
	KeyState	(*look) (KeyHolder *place, FoundKey *found);
	void		(*close) (KeyHolder *place);
};

extern bool ZbxhistFindKeys(KeyHolder *place, FoundKey *found);
extern KeyState ZbxhistStateOfRow(Relation rel, FoundKey *found);
pg_noreturn extern void ZbxhistRaiseKeyTaken(const FoundKey *found,
											 TupleTableSlot *slot);

#endif							/* ZBXHIST_KEY_LOOK_H */
