/*-------------------------------------------------------------------------
 *
 * kept_tables.c
 *	  Keeps tables open that will be read again for other items.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "tables/kept_tables.h"

/*
 * ZbxhistKeepTable keeps the reader of a table open, in the current context.
 */
void
ZbxhistKeepTable(KeptTables *kept, Oid relid, void *reader)
{
	kept->readers = lappend(kept->readers, reader);
	kept->relids = lappend_oid(kept->relids, relid);
}

/*
 * ZbxhistFindKept returns the open reader of a table, or NULL.  The search begins after the
 * one found last, because each item reads the tables in the same order.
 */
void *
ZbxhistFindKept(KeptTables *kept, Oid relid)
{
	int			nkept = list_length(kept->relids);

	for (int i = 0; i < nkept; i++)
	{
		int			place = (kept->hint + i) % nkept;

		if (list_nth_oid(kept->relids, place) == relid)
		{
			kept->hint = place + 1;
			return list_nth(kept->readers, place);
		}
	}
	return NULL;
}
