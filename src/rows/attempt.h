/*-------------------------------------------------------------------------
 *
 * attempt.h
 *	  Work that may fail without failing the statement.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ATTEMPT_H
#define ZBXHIST_ATTEMPT_H

extern ErrorData *ZbxhistAttempt(void (*work) (void *arg), void *arg);

#endif							/* ZBXHIST_ATTEMPT_H */
