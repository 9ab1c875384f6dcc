/*-------------------------------------------------------------------------
 *
 * codec_line.h
 *	  Integers of 64 bits as their distances from a line.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_CODEC_LINE_H
#define ZBXHIST_CODEC_LINE_H

extern bool ZbxhistFindLine(const uint64 *values, int n, int width,
							uint64 *slope);
extern void ZbxhistSubtractLine(uint64 *distances, const uint64 *values, int n,
								uint64 slope);
extern void ZbxhistAddLine(uint64 *values, Slice slice, uint64 slope);

#endif							/* ZBXHIST_CODEC_LINE_H */
