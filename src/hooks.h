/*-------------------------------------------------------------------------
 *
 * hooks.h
 *	  PostgreSQL's hooks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_HOOKS_H
#define ZBXHIST_HOOKS_H

extern void ZbxhistHooksInit(void);

#endif							/* ZBXHIST_HOOKS_H */
