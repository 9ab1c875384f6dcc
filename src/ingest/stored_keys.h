/*-------------------------------------------------------------------------
 *
 * stored_keys.h
 *	  Keys that have been stored in runs lately, of all sessions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_STORED_KEYS_H
#define ZBXHIST_STORED_KEYS_H

#include "ingest/run_key_filter.h"
#include "ingest/run_table.h"
#include "packed/runs/run_write.h"

extern void ZbxhistStoredKeysInit(void);
extern int	ZbxhistNoteStoredKeys(Relation runs, const RunTable *table,
								  const WrittenRun *own, int nown,
								  const RunKeys *keys, int *rows);

#endif							/* ZBXHIST_STORED_KEYS_H */
