/*-------------------------------------------------------------------------
 *
 * shim.h
 *	  What the packed format needs of a server, for programs that have none.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SHIM_H
#define ZBXHIST_SHIM_H

/* frees all memory of palloc that was not freed */
extern void shim_reset(void);

/* most bytes allocated at a time since the last reset */
extern size_t shim_peak(void);

#endif							/* ZBXHIST_SHIM_H */
