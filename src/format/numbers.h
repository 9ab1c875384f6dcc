/*-------------------------------------------------------------------------
 *
 * numbers.h
 *	  Numerics that are integers, as the machine's integers and back.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_NUMBERS_H
#define ZBXHIST_NUMBERS_H

#include "utils/numeric.h"

extern bool ZbxhistNumericToUnsigned(Datum number, uint64 *result);
extern Numeric ZbxhistUnsignedToNumeric(uint64 number);
extern Numeric ZbxhistWideToNumeric(uint64 high, uint64 low);
extern Numeric ZbxhistCopyNumeric(Numeric number);
extern void ZbxhistReplaceNumber(Numeric *place, Datum number,
								 MemoryContext owner);

#endif							/* ZBXHIST_NUMBERS_H */
