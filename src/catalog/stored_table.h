/*-------------------------------------------------------------------------
 *
 * stored_table.h
 *	  Reads tables of Zabbix's beside those of values without running their
 *	  owner's code.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_STORED_TABLE_H
#define ZBXHIST_STORED_TABLE_H

#include "access/attnum.h"
#include "executor/tuptable.h"
#include "utils/relcache.h"

/* stored_setting.c */
extern bool ZbxhistIsReadableTable(Relation rel);
extern bool ZbxhistIsReadableColumn(Relation rel, AttrNumber attnum);
extern char *ZbxhistGetStoredText(TupleTableSlot *slot, AttrNumber attnum);

#endif							/* ZBXHIST_STORED_TABLE_H */
