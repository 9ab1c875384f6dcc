/*-------------------------------------------------------------------------
 *
 * unsigned_numeric.h
 *	  Numerics that are unsigned integers of 64 bits.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_UNSIGNED_NUMERIC_H
#define ZBXHIST_UNSIGNED_NUMERIC_H

/* bytes of a numeric's image, without its length word, at most */
#define UNSIGNED_IMAGE_SIZE 12

extern bool ZbxhistImageToUnsigned(const char *image, size_t length,
								   uint64 *result);
extern int	ZbxhistUnsignedToImage(uint64 value, char *image);

#endif							/* ZBXHIST_UNSIGNED_NUMERIC_H */
