/*-------------------------------------------------------------------------
 *
 * copy_to.h
 *	  Refuses COPY of a parent, which would have its own rows only.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_COPY_TO_H
#define ZBXHIST_COPY_TO_H

#include "nodes/nodes.h"

extern void ZbxhistRefuseCopyTo(const Node *statement);

#endif							/* ZBXHIST_COPY_TO_H */
