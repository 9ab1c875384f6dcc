/*-------------------------------------------------------------------------
 *
 * select.h
 *	  Finds the parents in a SELECT that our own scans can read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SELECT_H
#define ZBXHIST_SELECT_H

#include "nodes/parsenodes.h"

extern void ZbxhistMarkParents(Query *query);

#endif							/* ZBXHIST_SELECT_H */
