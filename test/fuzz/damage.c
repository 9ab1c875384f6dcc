/*-------------------------------------------------------------------------
 *
 * damage.c
 *	  Reads damaged bytes, and bytes that no writer makes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "format/codec.h"
#include "checks.h"
#include "rows.h"
#include "shim.h"

/* A group of three items, in the caller's memory. */
static uint8 *
make_group(size_t *length)
{
	PackedKind	kinds[] = {PACKED_INT, PACKED_INT, PACKED_DOUBLE, PACKED_BYTES};
	GroupWriter *writer = ZbxhistCreateGroupWriter(4, 2);
	int			k,
				i;

	for (k = 0; k < 3; k++)
	{
		SegmentRows rows = {k, 40, 4, make_columns(kinds, 4, 40)};

		for (i = 0; i < 40; i++)
		{
			rows.columns[0].ints[i] = 1700000000 + i * 60;
			rows.columns[1].ints[i] = random_number() % 1000000000;
			rows.columns[2].doubles[i] = i / 10.0;
			rows.columns[3].bytes[i].data = "nothing to report";
			rows.columns[3].bytes[i].len = 7 + i % 5;
		}
		(void) ZbxhistGroupAdd(writer, &rows, 0, 100000);
	}
	return ZbxhistGroupFinish(writer, length);
}

/* How many segments can be decoded; -1 if the group cannot be opened. */
static int
count_good_segments(const uint8 *data, size_t length, int ncolumns)
{
	GroupReader reader;
	SegmentRows rows;
	int			count = 0;
	int			i;

	if (!ZbxhistOpenGroup(&reader, data, length, ncolumns))
		return -1;
	for (i = 0; i < reader.nsegments; i++)
		count += ZbxhistDecodeSegment(&reader, i, NULL, &rows);
	return count;
}

/* Every flipped bit is noticed, and the other segments can still be decoded. */
static void
test_bits(void)
{
	size_t		length;
	uint8	   *data = make_group(&length);
	uint8	   *copy = malloc(length);
	GroupReader reader;
	size_t		i;

	memcpy(copy, data, length);
	if (!ZbxhistOpenGroup(&reader, data, length, 4))
		report("a group cannot be opened", "damage", 0, 0);
	for (i = 0; i < length * 8; i++)
	{
		int			expected = i / 8 < reader.segments[0].offset ? -1 : 2;

		copy[i / 8] ^= 1 << i % 8;
		report(count_good_segments(copy, length, 4) == expected ? NULL :
			   "damage is not noticed, or hurts others", "bit", i, 0);
		copy[i / 8] ^= 1 << i % 8;
	}
	/* of exactly this size, so that a sanitizer notices reads beyond it */
	for (i = 0; i < length; i++)
	{
		uint8	   *part = malloc(i + 1);

		memcpy(part, copy, i);
		report(count_good_segments(part, i, 4) == -1 ? NULL :
			   "a group without its end is opened", "length", i, 0);
		free(part);
	}
	for (i = 1; i < 8; i++)
		report((count_good_segments(copy, length, i) == 3) == (i == 4) ? NULL :
			   "the number of columns does not count", "columns", i, 0);
	free(copy);
	shim_reset();
}

/* Streams of three integers that no writer makes. */
static void
test_streams(void)
{
	static const struct
	{
		const char *bytes;
		int			length;
		bool		is_good;
	}			streams[] = {
		{"\x20\x02", 2, true},	/* three ones */
		{"\x20", 1, false},		/* no base */
		{"\x60\x02", 2, false}, /* a flag that has no meaning */
		{"\x20\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11, true},
		{"\x20\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", 11, false},
		{"\x20\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x81\x01", 12, false},
		{"\x00\x08\x00\x01\x02\x03", 6, true},	/* a byte each */
		{"\x00\x08\x00\x01\x02", 5, false},
		{"\x00\x41\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C"
		"\x0D\x0E\x0F\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1A", 29, false},
		{"\x21\x00\x02", 3, true},	/* differences */
		{"\x22\x00\x00\x02", 4, false}, /* of an unknown kind */
		{"\x03\x01\x20\x02\x20\x00", 6, true},	/* a dictionary of one */
		{"\x03\x01\x20\x02\x20\x02", 6, false}, /* an index beyond its end */
		{"\x03\x00\x20\x02\x20\x00", 6, false},
		{"\x03\x81\x02\x20\x02\x20\x00", 7, false}, /* 257 entries */
		{"\x03\x01\x03\x01\x20\x02\x20\x00\x20\x00", 10, false},	/* a dictionary in one */
		{"\x10\x00\x00\x01\x01\x02\x01", 7, true},	/* an exception */
		{"\x10\x00\x00\x01\x01\x03\x01", 7, false}, /* beyond the last row */
		{"\x10\x00\x00\x00\x01\x02\x01", 7, false}, /* no exception */
		{"\x10\x00\x00\x04\x01\x02\x01", 7, false}, /* four of three rows */
		{"\x10\x00\x00\x01\x00\x02\x01", 7, false}, /* exceptions of no bits */
		{"\x10\x08\x00\x01\x39\x00\x00\x00\x02\x01\x02\x03\x04\x05\x06\x07\x08",
		17, false},				/* 8 and 57 bits */
		{"\x10\x40\x00\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x01", 31, false}
	};
	int			i;

	for (i = 0; i < lengthof(streams); i++)
	{
		uint8	   *bytes = palloc(streams[i].length);
		uint64	   *values = palloc(3 * sizeof(uint64));
		ByteReader	reader = {bytes, bytes + streams[i].length};

		memcpy(bytes, streams[i].bytes, streams[i].length);
		report(ZbxhistDecodeIntegers(&reader, values, 3) == streams[i].is_good ?
			   NULL : "bad bytes are accepted, or good ones refused", "stream", i, 3);
		/* one value has no differences */
		reader.next = bytes;
		if ((bytes[0] & 3) == 1)
			report(ZbxhistDecodeIntegers(&reader, values, 1) ? "too few values" :
				   NULL, "stream", i, 1);
	}
	shim_reset();
}

/* A directory that disagrees with its segments; all checksums are right. */
static void
test_directory(void)
{
	size_t		length;
	uint8	   *data = make_group(&length);
	GroupReader reader;
	int			i;

	for (i = 0; i < 4; i++)
	{
		GroupWriter *writer = ZbxhistCreateGroupWriter(4, 2);
		size_t		changed_length;
		uint8	   *changed;

		if (!ZbxhistOpenGroup(&reader, data, length, 4))
			report("a group cannot be opened", "directory", i, 0);
		reader.segments[0].last_clock += i == 1;
		reader.segments[0].nrows += i == 2 ? 1 : i == 3 ? -1 : 0;
		(void) ZbxhistGroupCopy(writer, &reader, 0, 100000);
		changed = ZbxhistGroupFinish(writer, &changed_length);
		report(count_good_segments(changed, changed_length, 4) == (i == 0) ?
			   NULL : "a wrong directory is not noticed", "directory", i, 0);
	}
	shim_reset();
}

/* The segments of a group must be sorted and must not overlap. */
static void
test_order(void)
{
	size_t		length;
	uint8	   *data = make_group(&length);
	GroupReader reader;
	int			i;

	for (i = 0; i < 4; i++)
	{
		GroupWriter *writer = ZbxhistCreateGroupWriter(4, 2);
		size_t		changed_length;
		uint8	   *changed;

		if (!ZbxhistOpenGroup(&reader, data, length, 4))
			report("a group cannot be opened", "order", i, 0);
		/* a later item, the same one, the same one later, an earlier one */
		reader.segments[1].itemid = i == 0 ? 1 : i == 3 ? -1 : 0;
		if (i == 2)
		{
			reader.segments[1].first_clock += 40 * 60;
			reader.segments[1].last_clock += 40 * 60;
		}
		(void) ZbxhistGroupCopy(writer, &reader, 0, 100000);
		(void) ZbxhistGroupCopy(writer, &reader, 1, 100000);
		changed = ZbxhistGroupFinish(writer, &changed_length);
		report(count_good_segments(changed, changed_length, 4) ==
			   (i % 2 == 0 ? 2 : -1) ? NULL : "the order does not count",
			   "order", i, 0);
	}
	shim_reset();
}

void
test_damage(void)
{
	test_bits();
	test_streams();
	test_directory();
	test_order();
}
