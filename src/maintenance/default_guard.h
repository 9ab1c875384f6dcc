/*-------------------------------------------------------------------------
 *
 * default_guard.h
 *	  Keeps a new column from making packed rows unreadable.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DEFAULT_GUARD_H
#define ZBXHIST_DEFAULT_GUARD_H

#include "access/attnum.h"

extern void ZbxhistGuardDefault(Oid relid, AttrNumber attnum);

#endif							/* ZBXHIST_DEFAULT_GUARD_H */
