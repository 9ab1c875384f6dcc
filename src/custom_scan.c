/*-------------------------------------------------------------------------
 *
 * custom_scan.c
 *	  What our plan nodes have in common.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "custom_scan.h"

/*
 * create_scan_state makes the state of a node, filled with zeros.
 */
Node *
create_scan_state(CustomScan *scan)
{
	const ScanNode *node = (const ScanNode *) scan->methods;
	CustomScanState *state = (CustomScanState *) newNode(node->state_size,
														 T_CustomScanState);

	state->methods = node->exec_methods;
	return (Node *) state;
}

/*
 * take_scan_relation returns the relation of a node that reads rows of its children, and
 * hides it from WHERE CURRENT OF, which would look there for a ctid of another table.
 */
Relation
take_scan_relation(ScanState *node)
{
	Relation	result = node->ss_currentRelation;

	node->ss_currentRelation = NULL;
	return result;
}

/*
 * recheck_nothing is for ExecScan: our nodes lock no rows, so there is nothing to
 * check again.
 */
bool
recheck_nothing(ScanState *node, TupleTableSlot *slot)
{
	return true;
}

/*
 * make_scan_path makes a path of a relation's rows, without rows and cost.
 */
CustomPath *
make_scan_path(RelOptInfo *rel, ParamPathInfo *param_info,
			   const CustomPathMethods *methods, List *private)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = rel->reltarget;
	path->path.param_info = param_info;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_private = private;
	path->methods = methods;
	return path;
}
