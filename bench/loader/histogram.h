#ifndef LOADER_HISTOGRAM_H
#define LOADER_HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

/* 32 buckets for each doubling, 1 microsecond to over an hour: 2.2 % each */
#define HISTOGRAM_PER_OCTAVE 32
#define HISTOGRAM_BUCKETS (HISTOGRAM_PER_OCTAVE * 32)

typedef struct Histogram
{
	uint64_t	count;
	double		sum;			/* seconds */
	double		max;			/* seconds, exact */
	uint64_t	buckets[HISTOGRAM_BUCKETS];
} Histogram;

extern void histogram_add(Histogram *histogram, double seconds);
extern void histogram_merge(Histogram *into, const Histogram *from);
extern double histogram_percentile(const Histogram *histogram, double fraction);
extern void histogram_print_json(const Histogram *histogram, FILE *out);

#endif							/* LOADER_HISTOGRAM_H */
