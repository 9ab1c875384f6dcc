"""Medians, spreads and ratios of rounds."""

import statistics


def spread(values):
    """Median, minimum and maximum."""
    values = [value for value in values if value is not None]
    if not values:
        return None
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def ratios(values, references):
    """The spread of the ratios of rounds.

    What slows the machine for a while slows both sides of a round, so the median of ratios is
    steadier than the ratio of medians.
    """
    pairs = [
        (value, reference)
        for value, reference in zip(values, references)
        if value is not None and reference
    ]
    return spread([value / reference for value, reference in pairs])


def percentile(values, fraction):
    """The value below which this fraction lies; None if there are none."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]
