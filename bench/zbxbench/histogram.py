"""Latencies in buckets of equal ratio, as the loader keeps them."""

import math

PER_OCTAVE = 32
MICROSECOND = 1e-6


class Histogram:
    """Filled from an iterable of seconds."""

    def __init__(self, latencies):
        self.counts = {}
        self.count = 0
        self.sum = 0.0
        self.max = 0.0
        for latency in latencies:
            self.add(latency)

    def add(self, latency):
        """Counts one latency."""
        bucket = int(math.log2(max(latency, MICROSECOND) / MICROSECOND) * PER_OCTAVE)
        self.counts[bucket] = self.counts.get(bucket, 0) + 1
        self.count += 1
        self.sum += latency
        self.max = max(self.max, latency)

    @staticmethod
    def _edge(bucket):
        return MICROSECOND * 2 ** ((bucket + 1) / PER_OCTAVE)

    def percentile(self, fraction):
        """The latency below which the fraction lies, to 2 %."""
        wanted = math.ceil(fraction * self.count)
        seen = 0
        for bucket in sorted(self.counts):
            seen += self.counts[bucket]
            if seen >= wanted:
                return min(self._edge(bucket), self.max)
        return self.max

    def summary(self):
        """Milliseconds, under the loader's names."""
        result = {"mean": self.sum / self.count * 1e3 if self.count else 0.0}
        for name, fraction in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            result[name] = self.percentile(fraction) * 1e3
        result["max"] = self.max * 1e3
        return result
