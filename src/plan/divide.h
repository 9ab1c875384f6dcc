/*-------------------------------------------------------------------------
 *
 * divide.h
 *	  The parts of a long OR that each of some tables needs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DIVIDE_H
#define ZBXHIST_DIVIDE_H

#include "nodes/parsenodes.h"

#include "catalog/partition_set.h"

extern List *ZbxhistDivideConditions(const Query *query,
									 const PartitionSet *set, List *tables);

#endif							/* ZBXHIST_DIVIDE_H */
