/*-------------------------------------------------------------------------
 *
 * codec_frame.h
 *	  Integers of 64 bits as their distances from a base.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_CODEC_FRAME_H
#define ZBXHIST_CODEC_FRAME_H

#include "packed/format/codec.h"

/* how values are written, or would be */
typedef struct Frame
{
	bool		is_centred;		/* distances have both signs */
	uint64		base;
	int			width;			/* in bits, of a distance */
	int			nexceptions;
	int			exception_width;	/* of the bits above width */
	size_t		size;			/* in bytes, about */
} Frame;

extern void ZbxhistChooseFrame(Frame *frame, const uint64 *values, int n);
extern void ZbxhistPutFrame(ByteBuffer *buffer, const Frame *frame,
							const uint64 *values, int n, uint64 *work);
extern bool ZbxhistGetFrame(ByteReader *reader, uint64 *values, Slice slice,
							bool has_exceptions, Frame *frame);

#endif							/* ZBXHIST_CODEC_FRAME_H */
