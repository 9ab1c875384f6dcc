/*-------------------------------------------------------------------------
 *
 * group_source.c
 *	  The subquery of groups that takes the place of a parent.
 *
 * Its source is a parent, or a UNION ALL of parents, in whose members the groups
 * are made (group_below.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/rel.h"

#include "compat.h"
#include "plan/clock_bounds.h"
#include "plan/stand_in.h"
#include "plan/two_steps.h"

/* ---- the groups below ---- */

/* a member of the source */
typedef struct Member
{
	const TwoSteps *steps;
	List	   *columns;		/* TargetEntries: what it gives; NIL: a
								 * parent's own */
} Member;

/*
 * below is a mutator that makes expressions of a member's relation of those of the
 * source.
 */
static Node *
below(Node *node, void *context)
{
	const Member *member = context;
	const Var  *var = (const Var *) node;
	Var		   *result;

	if (node == NULL || IsA(node, Query))
		return node;
	if (!IsA(node, Var) || var->varno != member->steps->rti ||
		var->varlevelsup > 0)
		return expression_tree_mutator(node, below, context);
	if (member->columns != NIL)
		return copyObject((Node *) list_nth_node(TargetEntry, member->columns,
												 var->varattno - 1)->expr);
	result = copyObject((Var *) var);
	ChangeVarNodes((Node *) result, var->varno, 1, 0);
	return (Node *) result;
}

/*
 * ForMember returns expressions of the source as those of a member.
 */
static List *
ForMember(const TwoSteps *steps, const Query *query, List *exprs)
{
	Member		member = {.steps = steps,.columns = query->targetList};

	exprs = copyObject(exprs);
	IncrementVarSublevelsUp((Node *) exprs, steps->whole != NULL ? 2 : 1, 1);
	return (List *) below((Node *) exprs, &member);
}

/*
 * ZbxhistAddToMember adds conditions to a member's WHERE.
 */
void
ZbxhistAddToMember(const TwoSteps *steps, Query *member, List *conditions)
{
	List	   *quals = ZbxhistAddParts(NIL, member->jointree->quals, AND_EXPR);

	quals = list_concat(quals, ForMember(steps, member, conditions));
	member->jointree->quals = quals == NIL ? NULL :
		(Node *) make_ands_explicit(quals);
	member->hasSubLinks |= checkExprHasSubLink(member->jointree->quals);
}

/*
 * GroupMember makes groups of a member's rows.
 */
static void
GroupMember(const TwoSteps *steps, Query *member)
{
	List	   *exprs = ForMember(steps, member,
								  list_concat_copy(steps->keys, steps->totals));
	ListCell   *lc;

	member->targetList = NIL;
	foreach(lc, exprs)
	{
		int			n = foreach_current_index(lc) + 1;
		TargetEntry *entry =
			makeTargetEntry(lfirst(lc), n,
							n == 1 ? "itemid" : psprintf("column%d", n), false);

		if (n <= list_length(steps->keys))
			entry->ressortgroupref = n;
		member->targetList = lappend(member->targetList, entry);
	}
	member->groupClause = copyObject(steps->clauses);
	member->hasAggs = steps->totals != NIL;
}

/*
 * NameColumns gives an entry of FROM the names of a subquery's columns.
 */
static void
NameColumns(RangeTblEntry *rte, const Query *subquery)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, subquery->targetList)
		names = lappend(names, makeString(lfirst_node(TargetEntry, lc)->resname));
	if (rte->alias != NULL)
		rte->alias = makeAlias(rte->alias->aliasname, NIL);
	rte->eref = makeAlias(rte->eref->aliasname, names);
}

/*
 * SetUnionColumns gives a UNION ALL the columns of its members.
 */
static void
SetUnionColumns(Node *node, List *columns)
{
	SetOperationStmt *stmt = (SetOperationStmt *) node;
	ListCell   *lc;

	if (!IsA(node, SetOperationStmt))
		return;
	SetUnionColumns(stmt->larg, columns);
	SetUnionColumns(stmt->rarg, columns);
	stmt->colTypes = stmt->colTypmods = stmt->colCollations = NIL;
	foreach(lc, columns)
	{
		Node	   *expr = (Node *) lfirst_node(TargetEntry, lc)->expr;

		stmt->colTypes = lappend_oid(stmt->colTypes, exprType(expr));
		stmt->colTypmods = lappend_int(stmt->colTypmods, exprTypmod(expr));
		stmt->colCollations = lappend_oid(stmt->colCollations,
										  exprCollation(expr));
	}
}

/*
 * SetUnion does so with that of the query, whose members have groups.
 */
static void
SetUnion(TwoSteps *steps)
{
	Query	   *whole = steps->whole;
	List	   *columns = linitial_node(Query, steps->members)->targetList;
	Node	   *first = whole->setOperations;
	ListCell   *lc;

	while (IsA(first, SetOperationStmt))
		first = ((SetOperationStmt *) first)->larg;
	SetUnionColumns(whole->setOperations, columns);
	whole->targetList = NIL;
	foreach(lc, columns)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);
		Var		   *var = makeVarFromTargetEntry(((RangeTblRef *) first)->rtindex,
												 entry);

		whole->targetList = lappend(whole->targetList,
									makeTargetEntry((Expr *) var, entry->resno,
													entry->resname, false));
	}
	foreach(lc, whole->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY)
			NameColumns(rte, rte->subquery);
	}
}

/* ---- the source ---- */

/*
 * ZbxhistReachesSource says whether a part of FROM is the source, or joins it so that it has
 * the rows that it has.
 */
bool
ZbxhistReachesSource(TwoSteps *steps, Node *item)
{
	const JoinExpr *join = (const JoinExpr *) item;

	if (IsA(item, RangeTblRef))
		return ((RangeTblRef *) item)->rtindex == steps->rti;
	if (join->jointype != JOIN_INNER && join->jointype != JOIN_LEFT)
		return false;
	if (!ZbxhistReachesSource(steps, join->larg))
		return join->jointype == JOIN_INNER && ZbxhistReachesSource(steps, join->rarg);
	steps->has_left_join |= join->jointype == JOIN_LEFT;
	return true;
}

/*
 * AskParent says whether the relation of an entry is a parent that other tables may
 * stand for, and which columns item and clock are.
 */
static bool
AskParent(const Query *query, const RangeTblEntry *rte, AttrNumber *itemid,
		  AttrNumber *clock)
{
	Relation	rel;
	bool		result;

	if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_RELATION || !rte->inh)
		return false;
	rel = table_open(rte->relid, NoLock);
	result = ZbxhistIsRouted(rel) && ZbxhistMayStandIn(query, rte, rel);
	if (result)
	{
		const PartitionSet *set = ZbxhistGetPartitions(rel);

		*itemid = set->itemid_attnum;
		*clock = set->clock_attnum;
		result = *itemid != InvalidAttrNumber && *clock != InvalidAttrNumber;
	}
	table_close(rel, NoLock);
	return result;
}

/*
 * FindColumn returns the column of a member that is one of its relation, or 0.
 */
static AttrNumber
FindColumn(const Query *member, AttrNumber attnum)
{
	ListCell   *lc;

	foreach(lc, member->targetList)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (IsA(entry->expr, Var) && ((Var *) entry->expr)->varlevelsup == 0 &&
			((Var *) entry->expr)->varattno == attnum)
			return entry->resno;
	}
	return InvalidAttrNumber;
}

/*
 * TakeMember takes a member of a UNION ALL: a SELECT of columns of a parent.
 */
static bool
TakeMember(TwoSteps *steps, Query *member)
{
	const RangeTblRef *ref = member->jointree->fromlist == NIL ? NULL :
		linitial(member->jointree->fromlist);
	AttrNumber	itemid;
	AttrNumber	clock;

	if (member->commandType != CMD_SELECT || member->setOperations != NULL ||
		member->hasAggs || member->groupClause != NIL ||
		member->groupingSets != NIL || member->havingQual != NULL ||
		member->hasWindowFuncs || member->hasTargetSRFs ||
		member->distinctClause != NIL || member->limitCount != NULL ||
		member->limitOffset != NULL || member->sortClause != NIL ||
		member->rowMarks != NIL || member->cteList != NIL ||
		list_length(member->jointree->fromlist) != 1 || !IsA(ref, RangeTblRef) ||
		contain_volatile_functions((Node *) member->targetList) ||
		checkExprHasSubLink((Node *) member->targetList) ||
		!AskParent(member, rt_fetch(ref->rtindex, member->rtable), &itemid,
				   &clock))
		return false;
	itemid = FindColumn(member, itemid);
	clock = FindColumn(member, clock);
	if (itemid == InvalidAttrNumber ||
		(steps->members != NIL &&
		 (itemid != steps->itemid || clock != steps->clock)))
		return false;
	steps->itemid = itemid;
	steps->clock = clock;
	steps->members = lappend(steps->members, member);
	return true;
}

/*
 * TakeMembers takes those below a set operation.
 */
static bool
TakeMembers(TwoSteps *steps, Node *node)
{
	const SetOperationStmt *stmt = (const SetOperationStmt *) node;
	Query	   *member;

	if (IsA(node, SetOperationStmt))
		return stmt->op == SETOP_UNION && stmt->all &&
			TakeMembers(steps, stmt->larg) &&
			TakeMembers(steps, stmt->rarg);
	member = rt_fetch(((RangeTblRef *) node)->rtindex,
					  steps->whole->rtable)->subquery;
	return tlist_same_datatypes(member->targetList,
								((SetOperationStmt *) steps->whole->setOperations)->colTypes,
								false) &&
		TakeMember(steps, member);
}

/*
 * TakeUnion takes a subquery if it is a UNION ALL of parents.  It is copied, for the
 * query stays as it is if it is refused.
 */
static bool
TakeUnion(TwoSteps *steps, const RangeTblEntry *rte)
{
	const Query *whole = rte->subquery;

	/* a view's entry has a relation from 16 on */
	if (rte->security_barrier || rte->relid != InvalidOid ||
		rte->securityQuals != NIL || whole->limitCount != NULL ||
		whole->limitOffset != NULL || whole->cteList != NIL ||
		whole->sortClause != NIL)
		return false;
	steps->whole = copyObject((Query *) whole);
	return TakeMembers(steps, steps->whole->setOperations);
}

/*
 * TakeParent takes a parent: its only member is a new subquery.
 */
static bool
TakeParent(TwoSteps *steps, RangeTblEntry *rte)
{
	Query	   *member = makeNode(Query);
	RangeTblRef *ref = makeNode(RangeTblRef);

	if (!AskParent(steps->query, rte, &steps->itemid, &steps->clock))
		return false;
	ref->rtindex = 1;
	rte = copyObject(rte);
	member->commandType = CMD_SELECT;
	member->canSetTag = true;
	member->rtable = list_make1(rte);
	read_as_owner(member, rte);
	member->jointree = makeFromExpr(list_make1(ref), NULL);
	steps->members = list_make1(member);
	return true;
}

/*
 * IsSource says whether an entry of FROM may be a source.
 */
static bool
IsSource(const RangeTblEntry *rte)
{
	return rte->rtekind == RTE_SUBQUERY ? rte->subquery->setOperations != NULL :
		rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_RELATION &&
		rte->inh && ZbxhistAskLocked(rte->relid, ZbxhistIsRouted);
}

/*
 * ZbxhistFindGroupSource finds the source of a query, which must be the only one.
 */
bool
ZbxhistFindGroupSource(TwoSteps *steps)
{
	const Query *query = steps->query;
	RangeTblEntry *rte;
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		rte = lfirst_node(RangeTblEntry, lc);
		if (rte->lateral || rte->tablesample != NULL)
			return false;
		if (!IsSource(rte))
			continue;
		if (steps->rti != 0)
			return false;
		steps->rti = foreach_current_index(lc) + 1;
	}
	if (steps->rti == 0)
		return false;
	foreach(lc, query->jointree->fromlist)
	{
		if (ZbxhistReachesSource(steps, lfirst(lc)))
			break;
	}
	rte = rt_fetch(steps->rti, query->rtable);
	return lc != NULL && (rte->rtekind == RTE_SUBQUERY ? TakeUnion(steps, rte) :
						  TakeParent(steps, rte));
}

/*
 * ZbxhistPutGroups puts the groups in the place of the source.
 */
void
ZbxhistPutGroups(TwoSteps *steps)
{
	Query	   *query = steps->query;
	RangeTblEntry *rte = rt_fetch(steps->rti, query->rtable);
	ListCell   *lc;

	foreach(lc, steps->members)
		GroupMember(steps, lfirst(lc));
	if (steps->whole != NULL)
	{
		SetUnion(steps);
		rte->subquery = steps->whole;
	}
	else
		substitute_subquery(query, steps->rti, linitial(steps->members));
	NameColumns(rte, rte->subquery);
}
