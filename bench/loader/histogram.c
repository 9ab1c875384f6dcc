/*
 * histogram.c
 *		Latencies in buckets of equal ratio.
 *
 * A run sends up to millions of statements, and keeping each latency would
 * disturb the measurement.  Percentiles are exact to 2 %, which is less than the
 * difference between two runs.  The maximum is exact.
 */
#include "histogram.h"

#include <math.h>

#define MICROSECOND 1e-6

/* The bucket of a latency. */
static int
bucket_of(double seconds)
{
	double		index;

	if (seconds <= MICROSECOND)
		return 0;
	index = log2(seconds / MICROSECOND) * HISTOGRAM_PER_OCTAVE;
	if (index >= HISTOGRAM_BUCKETS - 1)
		return HISTOGRAM_BUCKETS - 1;
	return (int) index;
}

/* The upper edge of a bucket in seconds. */
static double
bucket_edge(int bucket)
{
	return MICROSECOND * exp2((double) (bucket + 1) / HISTOGRAM_PER_OCTAVE);
}

/* Counts one latency. */
void
histogram_add(Histogram *histogram, double seconds)
{
	histogram->count++;
	histogram->sum += seconds;
	if (seconds > histogram->max)
		histogram->max = seconds;
	histogram->buckets[bucket_of(seconds)]++;
}

/* Adds the counts of another thread. */
void
histogram_merge(Histogram *into, const Histogram *from)
{
	into->count += from->count;
	into->sum += from->sum;
	if (from->max > into->max)
		into->max = from->max;
	for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

/* A percentile, given as a fraction, in seconds. */
double
histogram_percentile(const Histogram *histogram, double fraction)
{
	uint64_t	wanted = (uint64_t) ceil(fraction * histogram->count);
	uint64_t	seen = 0;

	for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
	{
		seen += histogram->buckets[i];
		if (seen >= wanted && seen > 0)
			return fmin(bucket_edge(i), histogram->max);
	}
	return histogram->max;
}

/* Writes the summary and the filled buckets as a JSON object. */
void
histogram_print_json(const Histogram *histogram, FILE *out)
{
	const char *separator = "";

	fprintf(out, "{\"count\": %lu, \"mean\": %.4f, \"p50\": %.4f, "
			"\"p95\": %.4f, \"p99\": %.4f, \"max\": %.4f, \"buckets\": [",
			(unsigned long) histogram->count,
			histogram->count ? histogram->sum / histogram->count * 1e3 : 0.0,
			histogram_percentile(histogram, 0.50) * 1e3,
			histogram_percentile(histogram, 0.95) * 1e3,
			histogram_percentile(histogram, 0.99) * 1e3,
			histogram->max * 1e3);
	for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
	{
		if (histogram->buckets[i] == 0)
			continue;
		fprintf(out, "%s[%.4f, %lu]", separator, bucket_edge(i) * 1e3,
				(unsigned long) histogram->buckets[i]);
		separator = ", ";
	}
	fputs("]}", out);
}
