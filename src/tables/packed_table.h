/*-------------------------------------------------------------------------
 *
 * packed_table.h
 *	  Foreign tables that stand for packed days.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_PACKED_TABLE_H
#define ZBXHIST_PACKED_TABLE_H

#include "utils/relcache.h"

/* option of a foreign table's columns: the value in days packed before the column came */
#define FDW_OPTION_MISSING "missing"

extern Oid	ZbxhistInheritedParent(Oid relid);
extern Oid	ZbxhistForeignParent(Relation foreign);
extern char *ZbxhistColumnOption(Oid relid, AttrNumber attnum, const char *name);

#endif							/* ZBXHIST_PACKED_TABLE_H */
