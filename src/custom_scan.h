/*-------------------------------------------------------------------------
 *
 * custom_scan.h
 *	  What our plan nodes have in common.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_CUSTOM_SCAN_H
#define ZBXHIST_CUSTOM_SCAN_H

#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

/* a plan node of ours, whose scan methods _PG_init registers */
typedef struct ScanNode
{
	CustomScanMethods methods;	/* must be first */
	Size		state_size;		/* size of the state, which begins with
								 * CustomScanState */
	const CustomExecMethods *exec_methods;
} ScanNode;

extern Node *create_scan_state(CustomScan *scan);
extern Relation take_scan_relation(ScanState *node);
extern bool recheck_nothing(ScanState *node, TupleTableSlot *slot);
extern CustomPath *make_scan_path(RelOptInfo *rel, ParamPathInfo *param_info,
								  const CustomPathMethods *methods,
								  List *private);

#endif							/* ZBXHIST_CUSTOM_SCAN_H */
