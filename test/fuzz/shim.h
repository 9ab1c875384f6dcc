/*-------------------------------------------------------------------------
 *
 * shim.h
 *	  What the packed format needs of a server, for programs without one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SHIM_H
#define ZBXHIST_SHIM_H

/* frees all memory that palloc gave out and that was not freed */
extern void shim_reset(void);

/* the most bytes that palloc had given out at a time since the last reset */
extern size_t shim_peak(void);

#endif							/* ZBXHIST_SHIM_H */
