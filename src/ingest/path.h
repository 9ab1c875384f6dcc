/*-------------------------------------------------------------------------
 *
 * path.h
 *	  By which path a statement's rows are stored in a parent, and why.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_PATH_H
#define ZBXHIST_PATH_H

#include "commands/trigger.h"
#include "utils/relcache.h"

#include "ingest/frame.h"

/*
 * The short way, or what kept the statement from it.  Users know the names in
 * path.c; there is a counter for each.
 */
typedef enum InsertPath
{
	PATH_FAST,					/* planned by fast_insert.c */
	PATH_COLUMN,
	PATH_COPY,
	PATH_NOT_LOADED,
	PATH_REPLICATION,
	PATH_ROW_SECURITY,
	PATH_RULE,
	PATH_SETTING,
	PATH_STATEMENT,
	PATH_TRIGGER
} InsertPath;

#define INSERT_PATH_COUNT (PATH_TRIGGER + 1)

extern const char *ZbxhistInsertPathName(InsertPath path);
extern InsertPath ZbxhistTableInsertPath(Relation rel);
extern InsertPath ZbxhistFindInsertPath(const TriggerData *trigdata,
										const StatementInfo *info);

#endif							/* ZBXHIST_PATH_H */
