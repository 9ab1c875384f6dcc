"""How many bytes a value will take in packed days, told from some values of some
items: what their numbers need as docs/on-disk-format.md stores them.

It is a range.  The low end assumes that a whole day is like the values that were
looked at, the high end that it is wider.
"""

import decimal
import itertools
import math
import struct
import zlib

from . import figures

# decimals of a double that is stored as a decimal number
MOST_DECIMALS = 15

# digits that a sum of decimal numbers has right
ROUNDED = decimal.Context(prec=15)

# items that have fewer values say nothing of how values follow each other
FEWEST_VALUES = 3

# newest times that items have in common when they share their times
COMMON_TIMES = 10

# how much wider a day's numbers are at the high end than those of its last hour:
# two bits, as of numbers that wander
WIDER = 2


def width(numbers):
    """Bits of a number when each is stored as what it is more than the least."""
    return (max(numbers) - min(numbers)).bit_length() if numbers else 0


def patched(numbers):
    """The same, where the few greatest are stored apart."""
    least = min(numbers)
    widths = sorted((n - least).bit_length() for n in numbers)
    place = (len(widths) - 1).bit_length()
    return min(
        w + (len(widths) - i - 1) * (widths[-1] - w + place) / len(widths)
        for i, w in enumerate(widths)
    )


def without_factor(numbers):
    """What numbers are more than the first of them, without their common factor."""
    rests = [n - numbers[0] for n in numbers]
    factor = math.gcd(*rests) or 1
    return [n // factor for n in rests]


def stream_bits(numbers, wider=0):
    """Bits of a number of a stream, the least and the greatest; of those that change
    some more at the high end."""
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
    """A double's bits, the sign the lowest of them."""
    bits = struct.unpack("<Q", struct.pack("<d", number))[0]
    return (bits << 1 & (1 << 64) - 1) | bits >> 63


def decimals_of(numbers):
    """How many decimals numbers have; None if one of them is no decimal number."""
    if not all(number.is_finite() for number in numbers):
        return None
    most = max(max(0, -number.normalize().as_tuple().exponent) for number in numbers)
    is_long = max(abs(number.scaleb(most)) for number in numbers) >= 1 << 63
    return None if most > MOST_DECIMALS or is_long else most


def double_bits_a_value(texts):
    """Bits of a double, the least and the greatest, and whether all are decimal
    numbers; of sums of decimal numbers the last bits are corrected."""
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
    """Bits of an integer, the least and the greatest; None if one of them is none."""
    if not all(text.isdigit() for text in texts):
        return None
    return stream_bits([int(text) for text in texts], WIDER)


def text_bits(texts, lengths):
    """Bits of a text, the least and the greatest: compressed, or by its place among
    the distinct ones.  Of long ones the beginning was looked at."""
    seen = sum(len(text.encode()) for text in texts)
    if seen == 0:
        return 0, 0
    factor = max(1.0, sum(lengths) / seen)
    compressed = 8 * len(zlib.compress("\n".join(texts).encode(), 6)) / len(texts) * factor
    distinct = set(texts)
    table = 8 * sum(len(text.encode()) for text in distinct) / len(texts) * factor
    return min(compressed, table + (len(distinct) - 1).bit_length()), compressed


class Item:
    """The newest values of an item, the oldest of them first."""

    def __init__(self, rows, kinds):
        rows = sorted(rows, key=lambda row: (row[1], row[2] or 0))
        self.clocks = [row[1] for row in rows]
        self.ns = [row[2] or 0 for row in rows]
        self.columns = [[row[3 + i] for row in rows] for i in range(len(kinds))]
        self.kinds = kinds
        span = self.clocks[-1] - self.clocks[0]
        self.values_a_day = figures.DAY * (len(rows) - 1) / span if span > 0 else 1
        # of an item with few values
        self.values_a_day = min(max(self.values_a_day, 1), figures.DAY)
        self.times = tuple(zip(self.clocks, self.ns))[-COMMON_TIMES:]

    def __len__(self):
        return len(self.clocks)

    def is_decimal(self):
        """Are its values decimal numbers?  None of an item without numbers."""
        if not self.kinds or self.kinds[0] != "number":
            return None
        return double_bits_a_value(self.columns[0])[1]

    def bits(self, has_its_times):
        """Bits of a value, the least and the greatest."""
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
    """The mean of numbers with weights; None of none."""
    pairs = list(pairs)
    weight = sum(w for _, w in pairs)
    return sum(n * w for n, w in pairs) / weight if weight else None


def describe(rows, kinds, days):
    """What the items of a sample are like: bytes of a packed value as a range, the
    shares of items that share times and of those whose values are decimals.  A
    packed day is so many days long.  None if there is too little to tell."""
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
