/*-------------------------------------------------------------------------
 *
 * binary_search.h
 *	  Finds a place in a sorted array.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_BINARY_SEARCH_H
#define ZBXHIST_BINARY_SEARCH_H

/*
 * find_first sets i, an int variable, to the least number from 0 to n - 1 for
 * which an expression of i is true, or to n if there is none.  If it is true for
 * a number, it must be so for all that follow.
 */
#define find_first(i, n, is_reached) \
	do { \
		int			low_ = 0; \
		int			high_ = (n); \
		\
		while (low_ < high_) \
		{ \
			(i) = low_ + (high_ - low_) / 2; \
			if (is_reached) \
				high_ = (i); \
			else \
				low_ = (i) + 1; \
		} \
		(i) = low_; \
	} while (0)

#endif							/* ZBXHIST_BINARY_SEARCH_H */
