/*-------------------------------------------------------------------------
 *
 * clock_checks.h
 *	  CHECK constraints that hold for all rows of some clocks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_CLOCK_CHECKS_H
#define ZBXHIST_CLOCK_CHECKS_H

#include "utils/relcache.h"

#include "catalog/bounds.h"

extern const char *ZbxhistOpenCheck(Relation rel, const ClockRange *range);

#endif							/* ZBXHIST_CLOCK_CHECKS_H */
