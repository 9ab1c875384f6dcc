/*-------------------------------------------------------------------------
 *
 * frame.h
 *	  Which statement is executing now.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_FRAME_H
#define ZBXHIST_FRAME_H

#include "commands/trigger.h"
#include "executor/execdesc.h"
#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

/* one statement in execution; lives on the C stack of its hook */
typedef struct ExecFrame
{
	struct ExecFrame *outer;	/* the outer statement */
	QueryDesc  *query;			/* NULL: a utility statement */
	bool		is_copy_from;	/* the utility statement is COPY ... FROM */
	bool		runs_query;		/* ... executes a query in its own snapshot */
	uint64		routed;			/* rows that the command tag lacks */
	bool		only_reads;		/* the query will change rows, but has not
								 * begun to */
} ExecFrame;

/* what routing has to know of the statement that fires the row trigger */
typedef struct StatementInfo
{
	ExecFrame  *frame;			/* NULL: began before the library was loaded */
	bool		is_copy;		/* COPY ... FROM */
	bool		is_known;		/* the fields below are known */
	bool		needs_row;		/* uses the stored row: RETURNING, checks,
								 * MERGE */
	OnConflictAction on_conflict;
	bool		runs_functions; /* may call functions that run queries */
	bool		sets_tag;		/* its rows count in the command tag */
} StatementInfo;

extern void ZbxhistPushFrame(ExecFrame *frame, QueryDesc *query,
							 const Node *utility);
extern void ZbxhistPopFrame(const ExecFrame *frame);
extern ExecFrame *ZbxhistCurrentFrame(void);
extern bool ZbxhistIsInChange(void);
extern void ZbxhistSetOnlyReads(bool only_reads);
extern bool ZbxhistSnapshotIsOld(void);
extern void ZbxhistDescribeStatement(const TriggerData *trigdata,
									 StatementInfo *info);

#endif							/* ZBXHIST_FRAME_H */
