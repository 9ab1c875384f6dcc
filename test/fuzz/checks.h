/*-------------------------------------------------------------------------
 *
 * checks.h
 *	  What the files of the program round_trip share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_CHECKS_H
#define ZBXHIST_CHECKS_H

/* counts a test, and prints the error unless that is null */
extern void report(const char *error, const char *what, int detail,
				   int nrows);

/* random numbers, the same in each run */
extern uint64 random_number(void);

/* damage.c */
extern void test_damage(void);

/* shared.c */
extern void test_shared(void);

/* rests.c */
extern void test_rests(void);

#endif							/* ZBXHIST_CHECKS_H */
