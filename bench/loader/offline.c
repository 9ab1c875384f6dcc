/*
 * offline.c
 *		What the loader does with its stream without a server.
 */
#include "offline.h"

#include <stdio.h>
#include <stdlib.h>

#include "digest.h"
#include "text.h"

/* Writes one value as COPY text. */
static void
copy_value(const Stream *stream, long item, long pass, Text *text)
{
	Value		value;

	stream_value(stream, item, pass, &value);
	value.type = VALUE_FLOAT;
	text_reset(text);
	text_copy_row(text, &value);
	if (fwrite(text->data, 1, text->length, stdout) != text->length)
	{
		fputs("loader: could not write\n", stderr);
		exit(1);
	}
}

/* Writes COPY text item by item, each in the order of time. */
static void
copy_by_item(const Options *options, const Stream *stream, Text *text)
{
	long		items = stream->options.items;

	for (long item = 0; item < items; item++)
	{
		long		passes = (options->values - item + items - 1) / items;

		for (long pass = 0; pass < passes; pass++)
			copy_value(stream, item, options->first_pass + pass, text);
	}
}

/* Writes COPY text in the order of time. */
static void
copy_by_pass(const Options *options, const Stream *stream, Text *text)
{
	long		items = stream->options.items;

	for (long i = 0; i < options->values; i++)
		copy_value(stream, stream->order[i % items],
				   options->first_pass + i / items, text);
}

/* Writes COPY text of floats, whatever the mix. */
void
offline_copy(const Options *options, const Stream *stream)
{
	Text		text = {0};

	if (options->by_pass)
		copy_by_pass(options, stream, &text);
	else
		copy_by_item(options, stream, &text);
	free(text.data);
}

/* Prints the digest of the values that a run would store. */
void
offline_digest(const Options *options, const Stream *stream)
{
	long		batch = options->first_pass * stream->batches_per_pass;
	Value	   *values = malloc(sizeof(Value) * options->stream.batch);
	Digest		digest = {0};

	if (values == NULL)
		exit(1);
	while (digest.rows < options->values)
	{
		int			count = stream_batch(stream, batch++, values);

		for (int i = 0; i < count; i++)
			digest_value(&digest, &values[i]);
	}
	digest_print(&digest);
	free(values);
}
