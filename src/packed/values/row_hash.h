/*-------------------------------------------------------------------------
 *
 * row_hash.h
 *	  A checksum of rows, however they are divided into segments.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROW_HASH_H
#define ZBXHIST_ROW_HASH_H

#include "packed/format/segment.h"

extern uint64 ZbxhistHashRows(const SegmentRows *rows);

/* mixes the bits of a value into a hash */
static inline uint64
mix_hash(uint64 hash, uint64 value)
{
	hash = (hash ^ value) + UINT64CONST(0x9e3779b97f4a7c15);
	hash = (hash ^ (hash >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	hash = (hash ^ (hash >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return hash ^ (hash >> 31);
}

#endif							/* ZBXHIST_ROW_HASH_H */
