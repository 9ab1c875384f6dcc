/*-------------------------------------------------------------------------
 *
 * kept_tables.h
 *	  Keeps tables open that will be read again for other items.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_KEPT_TABLES_H
#define ZBXHIST_KEPT_TABLES_H

#include "nodes/pg_list.h"

/* all zeros to begin with */
typedef struct KeptTables
{
	List	   *readers;		/* whatever reads them */
	List	   *relids;			/* OidList: the tables */
	int			hint;			/* probable place of the next one; 0 for
								 * another item */
} KeptTables;

extern void ZbxhistKeepTable(KeptTables *kept, Oid relid, void *reader);
extern void *ZbxhistFindKept(KeptTables *kept, Oid relid);

#endif							/* ZBXHIST_KEPT_TABLES_H */
