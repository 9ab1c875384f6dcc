/*-------------------------------------------------------------------------
 *
 * make_room.h
 *	  Arrays that grow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_MAKE_ROOM_H
#define ZBXHIST_MAKE_ROOM_H

/*
 * make_room makes room for one more member behind the n of an array, which has
 * room for so many as capacity, an int variable, says.  If it is NULL, it is
 * allocated in the current context.
 */
#define make_room(array, n, capacity) \
	do { \
		if ((n) == (capacity)) \
		{ \
			(capacity) = Max((capacity) * 2, 256); \
			(array) = (array) == NULL ? palloc(sizeof(*(array)) * (capacity)) : \
				repalloc_huge((array), sizeof(*(array)) * (capacity)); \
		} \
	} while (0)

#endif							/* ZBXHIST_MAKE_ROOM_H */
