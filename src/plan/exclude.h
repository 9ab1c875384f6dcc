/*-------------------------------------------------------------------------
 *
 * exclude.h
 *	  Leaves partitions out of a plan by arithmetic.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_EXCLUDE_H
#define ZBXHIST_EXCLUDE_H

extern void ZbxhistExcludeInit(void);

#endif							/* ZBXHIST_EXCLUDE_H */
