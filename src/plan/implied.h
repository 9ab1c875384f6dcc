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

extern List *ZbxhistGetConjuncts(const Query *query);
extern void ZbxhistImplyConditions(Query *query);

#endif							/* ZBXHIST_IMPLIED_H */
