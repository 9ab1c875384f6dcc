/*-------------------------------------------------------------------------
 *
 * estimate.h
 *	  How many groups there will be.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_AGGREGATE_ESTIMATE_H
#define ZBXHIST_AGGREGATE_ESTIMATE_H

#include "aggregate/aggregate.h"

extern bool ZbxhistIsOfColumn(Node *expr, AttrNumber attnum);
extern double ZbxhistCountResults(Node *expr, AttrNumber clock, double nclocks);

#endif							/* ZBXHIST_AGGREGATE_ESTIMATE_H */
