/*-------------------------------------------------------------------------
 *
 * checks.h
 *	  What the parts of the program round_trip share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_CHECKS_H
#define ZBXHIST_CHECKS_H

/* counts a test, and says what is wrong unless error is null */
extern void report(const char *error, const char *what, int detail,
				   int nrows);

/* always the same ones */
extern uint64 random_number(void);

/* damage.c */
extern void test_damage(void);

/* shared.c */
extern void test_shared(void);

/* rests.c */
extern void test_rests(void);

#endif							/* ZBXHIST_CHECKS_H */
