/*
 * entropy.c
 *		What zstd, or an entropy coder alone, would make of packed groups, and
 *		what reading would cost then.
 *
 *		entropy TRAINING FILE...
 *
 * Each file has the groups of a packed day: COPY (SELECT payload ...) TO ...
 * (FORMAT binary).  Dictionaries are trained with the first one; the others are
 * measured: bytes of all groups one by one, four at a time, and of each part of
 * them, column by column; and the CPU time of decoding them as they are, and
 * of decompressing them before.  Prints JSON.
 */
#include "postgres.h"

#include <math.h>
#include <time.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zdict.h>
#include <zstd.h>

#include "packed/format/segment_format.h"
#include "shim.h"

#define MAX_GROUPS 20000
#define MAX_PARTS 16
#define MAX_VECTORS 20000
#define BATCH 4					/* groups that are compressed together */
#define ROUNDS 5				/* of which the fastest counts */
#define DICTIONARY_SIZE (64 * 1024)

typedef struct Group
{
	const uint8 *data;
	uint32		length;
	int			file;
	int			ncolumns;
	bool		is_times;
} Group;

/* what a group is made of */
enum
{
	PART_DIRECTORY,				/* with the header and the statistics */
	PART_SEGMENTS,				/* checksums and lengths */
	PART_SHARED_CLOCKS,			/* of vectors */
	PART_SHARED_NS,
	PART_COLUMNS				/* of values: clock, and so on */
};

/* how bytes are compressed */
typedef struct Method
{
	const char *name;
	int			level;
	bool		is_huffman;		/* no matches: Huffman's codes alone */
	bool		has_dictionary;
} Method;

static const Method methods[] = {
	{"huffman", -131072, true, false},
	{"1", 1, false, false},
	{"3", 3, false, false},
	{"9", 9, false, false},
	{"19", 19, false, false},
	{"1, dictionary", 1, false, true},
	{"3, dictionary", 3, false, true},
	{"19, dictionary", 19, false, true},
};

/* the methods that parts and batches are compressed with */
#define PLAIN_METHODS 5

typedef struct Part
{
	uint64		bytes;
	uint64		compressed[PLAIN_METHODS];
	double		order0;			/* bytes, if each had its entropy in its group */
	double		numbers;		/* bytes, if numbers had */
	bool		has_numbers;
} Part;

/* how wide the numbers of a column are in a group */
typedef struct Widths
{
	uint64		counts[65];
	uint64		low_bits;		/* below the highest one of each */
	uint64		other_bits;		/* of segments that are not counted so */
} Widths;

static Group groups[MAX_GROUPS];
static int	ngroups;
static int	first_measured;
static Part parts[MAX_PARTS];
static ByteBuffer part_bytes[MAX_PARTS];
static Widths widths[MAX_PARTS];
static SharedTimes vectors[MAX_VECTORS];	/* of one file */
static ZSTD_CCtx *compressor;
static ZSTD_DCtx *decompressor;
static void *dictionary;
static size_t dictionary_length;

/* Ends the program. */
static void __attribute__((noreturn))
fail(const char *what, const char *name)
{
	fprintf(stderr, "entropy: %s: %s\n", what, name);
	exit(1);
}

/* CPU time of this process. */
static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

/* ---- input ---- */

/* A number as COPY writes it. */
static uint32
big_endian(const uint8 *data, int length)
{
	uint32		value = 0;

	for (int i = 0; i < length; i++)
		value = value << 8 | data[i];
	return value;
}

/* Notes a group. */
static void
add_group(const uint8 *data, uint32 length, int file)
{
	ByteReader	bytes = {data + GROUP_FIXED_LENGTH, data + length};
	Group	   *group = &groups[ngroups++];
	uint64		ncolumns;

	if (ngroups == MAX_GROUPS || !ZbxhistGetVarint(&bytes, &ncolumns))
		fail("too many groups, or none", "");
	*group = (Group) {data, length, file, ncolumns, data[3] == GROUP_TIMES};
	if (PART_COLUMNS + group->ncolumns > MAX_PARTS)
		fail("too many columns", "");
}

/* Reads the groups of a file, which stay in memory. */
static void
read_file(const char *path, int file)
{
	FILE	   *stream = fopen(path, "rb");
	uint8	   *data;
	long		length;
	long		at = 19;		/* signature, flags, no extension */

	if (stream == NULL || fseek(stream, 0, SEEK_END) != 0)
		fail("could not read", path);
	length = ftell(stream);
	rewind(stream);
	data = malloc(length);
	if (data == NULL || fread(data, 1, length, stream) != length)
		fail("could not read", path);
	fclose(stream);
	while (at + 6 <= length && big_endian(data + at, 2) == 1)
	{
		uint32		size = big_endian(data + at + 2, 4);

		add_group(data + at + 6, size, file);
		at += 6 + size;
	}
}

/* ---- shared times ---- */

/* Adds the rows of a segment to a vector. */
static void
add_to_vector(uint64 number, const SegmentRows *rows)
{
	SharedTimes *vector = &vectors[number];
	int			n = vector->ntimes + rows->nrows;

	vector->clocks = realloc((void *) vector->clocks, n * sizeof(int64));
	vector->ns = realloc((void *) vector->ns, n * sizeof(int64));
	memcpy((int64 *) vector->clocks + vector->ntimes, rows->columns[0].ints,
		   rows->nrows * sizeof(int64));
	memcpy((int64 *) vector->ns + vector->ntimes, rows->columns[1].ints,
		   rows->nrows * sizeof(int64));
	vector->number = number;
	vector->ntimes = n;
}

/* Reads all vectors of a file. */
static void
read_vectors(int file)
{
	for (int i = 0; i < MAX_VECTORS; i++)
		vectors[i].ntimes = 0;
	for (int g = 0; g < ngroups; g++)
	{
		GroupReader reader;
		SegmentRows rows;

		if (!groups[g].is_times || groups[g].file != file)
			continue;
		if (!ZbxhistOpenTimes(&reader, groups[g].data, groups[g].length, NULL))
			fail("a group of times cannot be opened", "");
		for (int i = 0; i < reader.nsegments; i++)
		{
			/* what stands before the number is the same in all of them */
			uint64		number = (uint32) reader.segments[i].itemid;

			if (number >= MAX_VECTORS ||
				!ZbxhistDecodeSegment(&reader, i, NULL, &rows))
				fail("times cannot be decoded", "");
			add_to_vector(number, &rows);
		}
		shim_reset();
	}
}

/* Finds a vector of the file whose vectors have been read. */
static bool
find(TimesSource *source, uint64 number, SharedTimes *times)
{
	if (number >= MAX_VECTORS || vectors[number].ntimes == 0)
		return false;
	*times = vectors[number];
	return true;
}

static TimesSource source = {find};

/* Opens a group, of values or of times. */
static void
open_group(const Group *group, const uint8 *data, GroupReader *reader)
{
	if (group->is_times ? !ZbxhistOpenTimes(reader, data, group->length, NULL) :
		!ZbxhistOpenGroup(reader, data, group->length, group->ncolumns))
		fail("a group cannot be opened", "");
	reader->times = &source;
}

/* Decodes a segment of a group. */
static void
decode(const GroupReader *reader, int segment, SegmentRows *rows)
{
	if (!ZbxhistDecodeSegment(reader, segment, NULL, rows))
		fail("a segment cannot be decoded", "");
}

/* ---- compression ---- */

/* Compresses bytes; returns the length, that of the bytes if it is no less. */
static size_t
compress(const Method *method, const void *data, size_t length, void *output)
{
	size_t		size = ZSTD_compressBound(length);
	void	   *buffer = output == NULL ? malloc(size) : output;
	size_t		result;

	ZSTD_CCtx_reset(compressor, ZSTD_reset_session_and_parameters);
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, method->level);
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_contentSizeFlag, 0);
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_dictIDFlag, 0);
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_format, ZSTD_f_zstd1_magicless);
	if (method->is_huffman)
		ZSTD_CCtx_setParameter(compressor, ZSTD_c_literalCompressionMode,
							   ZSTD_ps_enable);
	if (method->has_dictionary)
		ZSTD_CCtx_loadDictionary_byReference(compressor, dictionary,
											 dictionary_length);
	result = ZSTD_compress2(compressor, buffer, size, data, length);
	if (ZSTD_isError(result))
		fail("zstd", ZSTD_getErrorName(result));
	if (output == NULL)
		free(buffer);
	return output == NULL ? Min(result, length) : result;
}

/* Bits of some things with their frequencies, each having its entropy. */
static double
entropy_bits(const uint64 *counts, int n)
{
	double		total = 0;
	double		bits = 0;

	for (int i = 0; i < n; i++)
		total += counts[i];
	for (int i = 0; i < n; i++)
		if (counts[i] > 0)
			bits += counts[i] * log2(total / counts[i]);
	return bits;
}

/* Trains a dictionary with the groups of the first file. */
static void
train(void)
{
	uint8	   *samples;
	size_t	   *lengths = malloc(ngroups * sizeof(size_t));
	size_t		length = 0;

	for (int g = 0; g < first_measured; g++)
		length += groups[g].length;
	samples = malloc(length);
	length = 0;
	for (int g = 0; g < first_measured; g++)
	{
		memcpy(samples + length, groups[g].data, groups[g].length);
		lengths[g] = groups[g].length;
		length += lengths[g];
	}
	dictionary = malloc(DICTIONARY_SIZE);
	dictionary_length = ZDICT_trainFromBuffer(dictionary, DICTIONARY_SIZE, samples,
											  lengths, first_measured);
	/* too few, or too random: the last bytes themselves */
	if (ZDICT_isError(dictionary_length))
	{
		dictionary_length = Min(length, DICTIONARY_SIZE);
		memcpy(dictionary, samples + length - dictionary_length,
			   dictionary_length);
	}
	free(samples);
	free(lengths);
}

/* ---- bytes of parts ---- */

/* Notes the widths of numbers, in the order of differences that is smallest. */
static void
count_widths(Widths *all, const uint64 *values, int n)
{
	uint64	   *numbers = malloc(n * sizeof(uint64));
	Widths		best = {{0}};
	uint64		least = PG_UINT64_MAX;

	memcpy(numbers, values, n * sizeof(uint64));
	for (int order = 0; order < 3 && order < n; order++)
	{
		Widths		found = {{0}};
		uint64		bits = 0;

		for (int i = n - 1; order > 0 && i >= order; i--)
			numbers[i] -= numbers[i - 1];
		for (int i = order; i < n; i++)
		{
			int			width = codec_width(codec_zigzag(numbers[i]));

			found.counts[width]++;
			found.low_bits += Max(width - 1, 0);
			bits += width;
		}
		if (bits < least)
			best = found;
		least = Min(bits, least);
	}
	for (int i = 0; i < lengthof(best.counts); i++)
		all->counts[i] += best.counts[i];
	all->low_bits += best.low_bits;
	free(numbers);
}

/* Doubles as integers, if they are decimals; returns false if they are not. */
static bool
scale(const double *values, uint64 *numbers, int n)
{
	for (int decimals = 0; decimals <= CODEC_MAX_DECIMALS; decimals++)
	{
		int			i = 0;

		while (i < n && ZbxhistScaleDouble(values[i], decimals,
										   (int64 *) &numbers[i]) &&
			   ZbxhistUnscaleDouble(numbers[i], decimals) == values[i])
			i++;
		if (i == n)
			return true;
	}
	return false;
}

/* Notes the widths of a column's numbers, whose bytes are `length` now. */
static void
count_column(int part, const PackedColumn *column, int n, size_t length)
{
	uint64	   *numbers = palloc(n * sizeof(uint64));
	bool		is_number = column->nulls == NULL;

	if (!is_number || column->kind == PACKED_BYTES)
		is_number = false;
	else if (column->kind == PACKED_DOUBLE)
		is_number = scale(column->doubles, numbers, n);
	else
	{
		const uint64 *values = column->kind == PACKED_INT ?
			(uint64 *) column->ints : column->unsigneds;

		for (int i = 0; i < n; i++)
			numbers[i] = values[i] - values[0];
	}
	parts[part].has_numbers |= is_number;
	if (is_number)
		count_widths(&widths[part], numbers, n);
	else
		widths[part].other_bits += length * 8;
	pfree(numbers);
}

/* Takes a segment apart. */
static void
split_segment(const Group *group, const GroupReader *reader, int segment)
{
	const SegmentInfo *info = &reader->segments[segment];
	ByteReader	bytes = {group->data + info->offset + SEGMENT_CRC_LENGTH,
	group->data + info->offset + info->length};
	uint64		lengths[MAX_PARTS];
	int			first = group->is_times ? PART_SHARED_CLOCKS : PART_COLUMNS;
	SegmentRows rows;

	for (int i = 0; i < group->ncolumns - 1; i++)
		if (!ZbxhistGetVarint(&bytes, &lengths[i]))
			fail("a segment has no lengths", "");
	ZbxhistPutBytes(&part_bytes[PART_SEGMENTS], group->data + info->offset,
					bytes.next - group->data - info->offset);
	decode(reader, segment, &rows);
	for (int i = 0; i < group->ncolumns; i++)
	{
		bool		is_shared = bytes.next < bytes.end &&
			*bytes.next == (i == 0 ? CLOCKS_SHARED : PACKED_INT | COLUMN_SHARED);
		size_t		length = i < group->ncolumns - 1 ? lengths[i] :
			codec_left(&bytes);

		ZbxhistPutBytes(&part_bytes[first + i], bytes.next, length);
		if (is_shared)
			widths[first + i].other_bits += length * 8;
		else
			count_column(first + i, &rows.columns[i], info->nrows, length);
		bytes.next += length;
	}
}

/* Adds what a group has of a part to what all have. */
static void
finish_part(int number)
{
	Part	   *part = &parts[number];
	Widths	   *found = &widths[number];
	uint64		counts[256] = {0};
	const ByteBuffer *bytes = &part_bytes[number];

	for (size_t i = 0; i < bytes->length; i++)
		counts[bytes->data[i]]++;
	part->bytes += bytes->length;
	part->order0 += entropy_bits(counts, lengthof(counts)) / 8;
	part->numbers += (entropy_bits(found->counts, lengthof(found->counts)) +
					  found->low_bits + found->other_bits) / 8;
	for (int i = 0; i < PLAIN_METHODS; i++)
		part->compressed[i] += bytes->length == 0 ? 0 :
			compress(&methods[i], bytes->data, bytes->length, NULL);
}

/* Takes a group apart. */
static void
split_group(const Group *group)
{
	GroupReader reader;

	open_group(group, group->data, &reader);
	memset(widths, 0, sizeof(widths));
	for (int i = 0; i < MAX_PARTS; i++)
		ZbxhistInitBuffer(&part_bytes[i], 64);
	ZbxhistPutBytes(&part_bytes[PART_DIRECTORY], group->data,
					reader.segments[0].offset);
	for (int i = 0; i < reader.nsegments; i++)
		split_segment(group, &reader, i);
	for (int i = 0; i < MAX_PARTS; i++)
		finish_part(i);
	shim_reset();
}

/* ---- time ---- */

/* The groups that are measured, compressed by a method. */
typedef struct Compressed
{
	uint8	  **data;
	size_t	   *lengths;
	ZSTD_DDict *dictionary;
} Compressed;

/* Decompresses a group; returns its bytes. */
static const uint8 *
decompress(const Compressed *compressed, int g, uint8 *output, size_t size)
{
	size_t		length = compressed->dictionary == NULL ?
		ZSTD_decompressDCtx(decompressor, output, size, compressed->data[g],
							compressed->lengths[g]) :
		ZSTD_decompress_usingDDict(decompressor, output, size,
								   compressed->data[g],
								   compressed->lengths[g],
								   compressed->dictionary);

	if (ZSTD_isError(length) || length != groups[g].length)
		fail("zstd", ZSTD_getErrorName(length));
	return output;
}

/*
 * Seconds to decode each group of values, or only one segment of each, after
 * decompressing if it is compressed.  Adds the rows to *nrows.
 */
static double
time_once(const Compressed *compressed, bool is_whole, uint64 *nrows)
{
	static uint8 output[1 << 20];
	double		total = 0;
	int			file = -1;

	for (int g = first_measured; g < ngroups; g++)
	{
		GroupReader reader;
		SegmentRows rows;
		const uint8 *data = groups[g].data;
		double		start;

		if (groups[g].is_times)
			continue;
		if (groups[g].file != file)
			read_vectors(file = groups[g].file);
		start = seconds();
		if (compressed != NULL)
			data = decompress(compressed, g, output, sizeof(output));
		open_group(&groups[g], data, &reader);
		for (int i = is_whole ? 0 : reader.nsegments / 2;
			 i < (is_whole ? reader.nsegments : reader.nsegments / 2 + 1); i++)
		{
			decode(&reader, i, &rows);
			*nrows += rows.nrows;
		}
		shim_reset();
		total += seconds() - start;
	}
	return total;
}

/* The least nanoseconds a value. */
static double
time_value(const Compressed *compressed, bool is_whole)
{
	double		least = INFINITY;

	for (int i = 0; i < ROUNDS; i++)
	{
		uint64		nrows = 0;
		double		found = time_once(compressed, is_whole, &nrows);

		least = Min(least, found * 1e9 / nrows);
	}
	return least;
}

/* ---- output ---- */

/* Measures a method on whole groups. */
static void
measure_method(const Method *method)
{
	Compressed	compressed = {calloc(ngroups, sizeof(uint8 *)),
	calloc(ngroups, sizeof(size_t)), NULL};
	uint64		total = 0;

	if (method->has_dictionary)
		compressed.dictionary = ZSTD_createDDict(dictionary, dictionary_length);
	for (int g = first_measured; g < ngroups; g++)
	{
		compressed.data[g] = malloc(ZSTD_compressBound(groups[g].length));
		compressed.lengths[g] = compress(method, groups[g].data,
										 groups[g].length, compressed.data[g]);
		total += Min(compressed.lengths[g], groups[g].length);
	}
	printf("{\"bytes\": " UINT64_FORMAT ", \"ns_value\": %.3f, \"ns_value_segment\": %.3f}",
		   total, time_value(&compressed, true), time_value(&compressed, false));
	for (int g = first_measured; g < ngroups; g++)
		free(compressed.data[g]);
	free(compressed.data);
	free(compressed.lengths);
	ZSTD_freeDDict(compressed.dictionary);
}

/* The bytes of several groups at a time, compressed. */
static uint64
measure_batches(const Method *method)
{
	uint64		total = 0;

	for (int g = first_measured; g < ngroups; g += BATCH)
	{
		ByteBuffer	bytes;

		ZbxhistInitBuffer(&bytes, 65536);
		for (int i = g; i < g + BATCH && i < ngroups; i++)
			ZbxhistPutBytes(&bytes, groups[i].data, groups[i].length);
		total += compress(method, bytes.data, bytes.length, NULL);
		shim_reset();
	}
	return total;
}

/* Prints what was found of the parts. */
static void
print_parts(void)
{
	const char *comma = "";

	printf("\"parts\": {");
	for (int i = 0; i < MAX_PARTS; i++)
	{
		const Part *part = &parts[i];

		if (part->bytes == 0)
			continue;
		printf("%s\n  \"%d\": {\"bytes\": " UINT64_FORMAT ", \"order0\": %.0f", comma, i,
			   part->bytes, part->order0);
		if (part->has_numbers)
			printf(", \"numbers\": %.0f", part->numbers);
		for (int m = 0; m < PLAIN_METHODS; m++)
			printf(", \"%s\": " UINT64_FORMAT, methods[m].name, part->compressed[m]);
		printf("}");
		comma = ",";
	}
	printf("},\n");
}

/* Measures all, and prints it. */
static void
measure(void)
{
	uint64		nbytes = 0;
	uint64		nrows = 0;
	int			file = -1;

	for (int g = first_measured; g < ngroups; g++)
	{
		if (groups[g].file != file)
			read_vectors(file = groups[g].file);
		nbytes += groups[g].length;
		split_group(&groups[g]);
	}
	(void) time_once(NULL, true, &nrows);
	printf("{\"groups\": %d, \"bytes\": " UINT64_FORMAT ", \"rows\": " UINT64_FORMAT ",\n",
		   ngroups - first_measured, nbytes, nrows);
	printf("\"ns_value\": %.3f, \"ns_value_segment\": %.3f,\n",
		   time_value(NULL, true), time_value(NULL, false));
	print_parts();
	printf("\"groups_compressed\": {");
	for (int i = 0; i < lengthof(methods); i++)
	{
		printf("%s\n  \"%s\": ", i == 0 ? "" : ",", methods[i].name);
		measure_method(&methods[i]);
	}
	printf("},\n\"batches_compressed\": {");
	for (int i = 0; i < PLAIN_METHODS; i++)
		printf("%s\"%s\": " UINT64_FORMAT, i == 0 ? "" : ", ", methods[i].name,
			   measure_batches(&methods[i]));
	printf("}}\n");
}

int
main(int argc, char **argv)
{
	if (argc < 3)
		fail("entropy TRAINING FILE...", "two files are needed");
	for (int i = 1; i < argc; i++)
	{
		read_file(argv[i], i);
		if (i == 1)
			first_measured = ngroups;
	}
	compressor = ZSTD_createCCtx();
	decompressor = ZSTD_createDCtx();
	ZSTD_DCtx_setParameter(decompressor, ZSTD_d_format, ZSTD_f_zstd1_magicless);
	train();
	measure();
	return 0;
}
