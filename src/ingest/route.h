/*-------------------------------------------------------------------------
 *
 * route.h
 *	  The trigger function, by which a parent is known.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROUTE_H
#define ZBXHIST_ROUTE_H

#include "fmgr.h"

extern PGDLLEXPORT Datum zbxhist_route(PG_FUNCTION_ARGS);

#endif							/* ZBXHIST_ROUTE_H */
