/*-------------------------------------------------------------------------
 *
 * implied.h
 *	  Conditions on a parent that follow from what it is joined with.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_IMPLIED_H
#define ZBXHIST_IMPLIED_H

#include "nodes/parsenodes.h"

/* implied.c */
extern List *ZbxhistGetConjuncts(const Query *query);
extern bool ZbxhistIsKeyOfParent(const Query *query, Node *expr);
extern void ZbxhistImplyConditions(Query *query);

/* series.c */
extern bool ZbxhistImplyOfSeries(Node *node, Query *query);

#endif							/* ZBXHIST_IMPLIED_H */
