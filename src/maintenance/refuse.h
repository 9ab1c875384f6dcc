/*-------------------------------------------------------------------------
 *
 * refuse.h
 *	  Errors without the context of the extension's PL/pgSQL functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_REFUSE_H
#define ZBXHIST_REFUSE_H

extern void ZbxhistLeaveOutOwnContext(void);

#endif							/* ZBXHIST_REFUSE_H */
