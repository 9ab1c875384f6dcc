"""Estimates the bytes of a value in packed days from some values of some items: what their
numbers need when stored as docs/on-disk-format.md says.

The result is a range.  The low end assumes that a whole day is like the sampled values, the
high end that its numbers vary more.
"""

import decimal
import itertools
import math
import struct
import zlib

from . import figures

# most decimals of a double that is stored as a decimal number
MOST_DECIMALS = 15

# digits that are exact in a sum of decimal numbers
ROUNDED = decimal.Context(prec=15)

# items with fewer values do not show how values follow each other
FEWEST_VALUES = 3

# items whose newest times are these many equal ones share their times
COMMON_TIMES = 10

# bits by which a day's numbers are wider at the high end than those of its last hour: two,
# as for a random walk
WIDER = 2


def width(numbers):
    """Bits per number if each is stored as its distance from the least."""
    return (max(numbers) - min(numbers)).bit_length() if numbers else 0


def patched(numbers):
    """The same with exceptions: the few greatest numbers have their higher bits stored
    apart."""
    least = min(numbers)
    widths = sorted((n - least).bit_length() for n in numbers)
    place = (len(widths) - 1).bit_length()
    return min(
        w + (len(widths) - i - 1) * (widths[-1] - w + place) / len(widths)
        for i, w in enumerate(widths)
    )


def without_factor(numbers):
    """The distances from the first number, divided by their greatest common divisor."""
    rests = [n - numbers[0] for n in numbers]
    factor = math.gcd(*rests) or 1
    return [n // factor for n in rests]


def stream_bits(numbers, wider=0):
    """Bits per number of a stream, as a range; at the high end numbers that vary need some bits
    more."""
    if len(numbers) < 2:
        return (width([0, *numbers]),) * 2
    numbers = without_factor(numbers)
    orders = [numbers, [b - a for a, b in zip(numbers, numbers[1:])]]
    distinct = len(set(numbers))
    index = (distinct - 1).bit_length()
    table = distinct * width(numbers) / len(numbers)
    low = min(map(patched, orders))
    high = min(width(order) + wider if width(order) else 0 for order in orders)
    if distinct < len(numbers) / 4:
        low, high = min(low, index), min(high, index + table + wider)
    return min(low, high), high


def double_bits(number):
    """The bits of a double, rotated so that the sign is the lowest."""
    bits = struct.unpack("<Q", struct.pack("<d", number))[0]
    return (bits << 1 & (1 << 64) - 1) | bits >> 63


def decimals_of(numbers):
    """The number of decimals of these numbers; None if one of them is not a decimal number that
    fits."""
    if not all(number.is_finite() for number in numbers):
        return None
    most = max(max(0, -number.normalize().as_tuple().exponent) for number in numbers)
    is_long = max(abs(number.scaleb(most)) for number in numbers) >= 1 << 63
    return None if most > MOST_DECIMALS or is_long else most


def double_bits_a_value(texts):
    """Bits per double, as a range, and whether all are stored as decimal numbers.  Sums of
    decimal numbers need a correction of their last bits."""
    doubles = [float(text) for text in texts]
    ways = [stream_bits([double_bits(number) for number in doubles], WIDER)]
    is_decimal = False
    exact = [decimal.Decimal(text) for text in texts]
    for numbers in exact, [ROUNDED.plus(number) for number in exact]:
        most = decimals_of(numbers)
        if most is not None:
            integers = [int(number.scaleb(most)) for number in numbers]
            found = stream_bits(integers, WIDER)
            rests = [double_bits(a) - double_bits(float(b)) for a, b in zip(doubles, numbers)]
            corrections = stream_bits(rests)
            ways.append((found[0] + corrections[0], found[1] + corrections[1]))
            is_decimal = True
    return min(ways), is_decimal


def integer_bits(texts):
    """Bits per integer, as a range; None if one of the texts is not an integer."""
    if not all(text.isdigit() for text in texts):
        return None
    return stream_bits([int(text) for text in texts], WIDER)


def text_bits(texts, lengths):
    """Bits per text, as a range: compressed, or as an index into the distinct ones.  Of long
    texts only the beginning was read."""
    seen = sum(len(text.encode()) for text in texts)
    if seen == 0:
        return 0, 0
    factor = max(1.0, sum(lengths) / seen)
    compressed = 8 * len(zlib.compress("\n".join(texts).encode(), 6)) / len(texts) * factor
    distinct = set(texts)
    table = 8 * sum(len(text.encode()) for text in distinct) / len(texts) * factor
    return min(compressed, table + (len(distinct) - 1).bit_length()), compressed


class Item:
    """The newest values of an item, oldest first."""

    def __init__(self, rows, kinds):
        rows = sorted(rows, key=lambda row: (row[1], row[2] or 0))
        self.clocks = [row[1] for row in rows]
        self.ns = [row[2] or 0 for row in rows]
        self.columns = [[row[3 + i] for row in rows] for i in range(len(kinds))]
        self.kinds = kinds
        span = self.clocks[-1] - self.clocks[0]
        self.values_a_day = figures.DAY * (len(rows) - 1) / span if span > 0 else 1
        # the span of few values says little
        self.values_a_day = min(max(self.values_a_day, 1), figures.DAY)
        self.times = tuple(zip(self.clocks, self.ns))[-COMMON_TIMES:]

    def __len__(self):
        return len(self.clocks)

    def is_decimal(self):
        """Are its values stored as decimal numbers?  None if it has no numbers."""
        if not self.kinds or self.kinds[0] != "number":
            return None
        return double_bits_a_value(self.columns[0])[1]

    def bits(self, has_its_times):
        """Bits per value, as a range."""
        parts = []
        if has_its_times:
            parts += [stream_bits(self.clocks), stream_bits(self.ns)]
        for kind, column in zip(self.kinds, self.columns):
            if kind == "number":
                parts.append(integer_bits(column) or double_bits_a_value(column)[0])
            else:
                parts.append(text_bits([c[0] for c in column], [c[1] for c in column]))
        return sum(p[0] for p in parts), sum(p[1] for p in parts)


def items_of(rows, kinds):
    """The items of rows [itemid, clock, ns, column, ...]."""
    rows = sorted(rows, key=lambda row: int(row[0]))
    return [Item(list(group), kinds) for _, group in itertools.groupby(rows, lambda row: row[0])]


def mean(pairs):
    """The weighted mean of numbers; None if there are none."""
    pairs = list(pairs)
    weight = sum(w for _, w in pairs)
    return sum(n * w for n, w in pairs) / weight if weight else None


def describe(rows, kinds, days):
    """Describes the items of a sample: bytes per packed value as a range, and the shares of
    items that share times and of those whose values are decimals.  days is the length of a
    packed day.  None if there are too few values."""
    items = [item for item in items_of(rows, kinds) if len(item) >= FEWEST_VALUES]
    if not items:
        return None
    leaders, lows, highs = {}, [], []
    for item in items:
        leaders.setdefault(item.times, []).append(item)
    for group in leaders.values():
        for position, item in enumerate(group):
            low, high = item.bits(position == 0)
            head = figures.segment_bytes() / max(1, item.values_a_day * days)
            lows.append((low / 8 + head, item.values_a_day))
            highs.append((high / 8 + head, item.values_a_day))
    least, most = figures.page_overhead()
    decimals = [item.is_decimal() for item in items if item.is_decimal() is not None]
    ns_bits = [stream_bits(item.ns)[1] for item in items]
    return {
        "items": len(items),
        "values": sum(len(item) for item in items),
        "bytes_per_value": [round(mean(lows) * least, 2), round(mean(highs) * most, 2)],
        "sharing_times": round(
            sum(len(group) for group in leaders.values() if len(group) > 1) / len(items), 3
        ),
        "decimals": round(sum(decimals) / len(decimals), 3) if decimals else None,
        "ns_bits": round(sum(ns_bits) / len(ns_bits), 1),
        "values_per_item_day": round(math.fsum(i.values_a_day for i in items) / len(items), 1),
    }
