/*-------------------------------------------------------------------------
 *
 * copy_to.h
 *	  Refuses COPY TO of a parent, which would copy its own rows only.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_COPY_TO_H
#define ZBXHIST_COPY_TO_H

#include "nodes/nodes.h"

extern void ZbxhistRefuseCopyTo(const Node *statement);

#endif							/* ZBXHIST_COPY_TO_H */
