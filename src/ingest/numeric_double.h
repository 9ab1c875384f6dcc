/*-------------------------------------------------------------------------
 *
 * numeric_double.h
 *	  The double precision number nearest to a numeric.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_NUMERIC_DOUBLE_H
#define ZBXHIST_NUMERIC_DOUBLE_H

extern Datum ZbxhistNumericToFloat8(Datum value);

#endif							/* ZBXHIST_NUMERIC_DOUBLE_H */
