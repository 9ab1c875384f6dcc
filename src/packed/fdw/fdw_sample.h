/*-------------------------------------------------------------------------
 *
 * fdw_sample.h
 *	  Of how many items packed days' rows are, by a few pages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_FDW_SAMPLE_H
#define ZBXHIST_FDW_SAMPLE_H

#include "catalog/partition_set.h"

extern void ZbxhistSampleItems(Oid packed, const PackedDay *days, int ndays);

#endif							/* ZBXHIST_FDW_SAMPLE_H */
