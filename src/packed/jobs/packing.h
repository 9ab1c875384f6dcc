/*-------------------------------------------------------------------------
 *
 * packing.h
 *	  What sessions have to know of a partition that is being packed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_PACKING_H
#define ZBXHIST_PACKING_H

extern bool ZbxhistIsBeingPacked(Oid partition);

#endif							/* ZBXHIST_PACKING_H */
