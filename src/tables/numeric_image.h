/*-------------------------------------------------------------------------
 *
 * numeric_image.h
 *	  The layout of a numeric; its image is all of it except the length word.
 *
 * It is private to utils/adt/numeric.c, but it cannot change, because tables contain it:
 * a header of 16 bits (short form) or 32 bits (long form), then digits to the base of
 * 10000, without zeros at either end.  A special value has only a header.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_NUMERIC_IMAGE_H
#define ZBXHIST_NUMERIC_IMAGE_H

#define NUMERIC_FORM_MASK	0xC000
#define NUMERIC_SHORT_FORM	0x8000
#define NUMERIC_SPECIAL		0xC000
#define NUMERIC_NAN			0xC000
#define NUMERIC_PINF		0xD000
#define NUMERIC_NINF		0xF000
#define SHORT_NEGATIVE		0x2000
#define SHORT_DSCALE_MASK	0x1F80
#define SHORT_DSCALE_SHIFT	7
#define SHORT_WEIGHT_SIGN	0x0040
#define SHORT_WEIGHT_MASK	0x003F
#define LONG_NEGATIVE		0x4000
#define LONG_DSCALE_MASK	0x3FFF
#define NUMERIC_BASE		10000
#define NUMERIC_BASE_DIGITS	4	/* decimal ones */

/* an image taken apart */
typedef struct NumericImage
{
	bool		is_negative;
	int			weight;			/* the first digit is times 10000^weight */
	int			dscale;			/* decimal digits shown behind the point */
	int			ndigits;
	const char *digits;			/* at any address */
} NumericImage;

/*
 * is_special_numeric says whether a header is that of NaN or an infinity.
 */
static inline bool
is_special_numeric(uint16 header)
{
	return (header & NUMERIC_FORM_MASK) == NUMERIC_SPECIAL;
}

/*
 * read_numeric_image takes an image at any address apart; returns false if it
 * is of a special value, or none.
 */
static inline bool
read_numeric_image(const char *data, size_t length, NumericImage *image)
{
	const char *end = data + length;
	uint16		header;
	int16		weight;

	if (length < sizeof(header))
		return false;
	memcpy(&header, data, sizeof(header));
	data += sizeof(header);
	if (is_special_numeric(header))
		return false;
	if ((header & NUMERIC_FORM_MASK) == NUMERIC_SHORT_FORM)
	{
		image->is_negative = (header & SHORT_NEGATIVE) != 0;
		image->dscale = (header & SHORT_DSCALE_MASK) >> SHORT_DSCALE_SHIFT;
		image->weight = (header & SHORT_WEIGHT_MASK) |
			((header & SHORT_WEIGHT_SIGN) ? ~SHORT_WEIGHT_MASK : 0);
	}
	else
	{
		if (end - data < (int) sizeof(weight))
			return false;
		memcpy(&weight, data, sizeof(weight));
		data += sizeof(weight);
		image->is_negative = (header & LONG_NEGATIVE) != 0;
		image->dscale = header & LONG_DSCALE_MASK;
		image->weight = weight;
	}
	image->digits = data;
	image->ndigits = (int) ((end - data) / sizeof(int16));
	return (end - data) % sizeof(int16) == 0;
}

/*
 * get_numeric_digit returns a digit to the base of 10000.
 */
static inline uint16
get_numeric_digit(const NumericImage *image, int i)
{
	uint16		digit;

	memcpy(&digit, image->digits + sizeof(digit) * i, sizeof(digit));
	return digit;
}

#endif							/* ZBXHIST_NUMERIC_IMAGE_H */
