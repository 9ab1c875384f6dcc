"""The days before a recording: rows that Zabbix would have stored by then."""

import io
import random
import re

from . import periods
from .life_stream import STEP
from .stores import schema

TRENDS = {"trends": "history", "trends_uint": "history_uint"}
# by table: columns of the recording's INSERTs
SENT = {
    "history_str": ("clock", "ns", "value"),
    "history_text": ("clock", "ns", "value"),
    "history_log": ("clock", "ns", "timestamp", "source", "severity", "value", "logeventid"),
}
_FIELD = re.compile(r",(?:'((?:[^']|'')*)'|([^,']*))")
_COPY = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


class Lines(io.RawIOBase):
    """A file that reads from a generator."""

    def __init__(self, texts):
        super().__init__()
        self.texts, self.rest = texts, b""

    def readable(self):
        return True

    def read(self, size=-1):
        while not self.rest:
            text = next(self.texts, None)
            if text is None:
                return b""
            self.rest = text.encode()
        part, self.rest = self.rest[:size], self.rest[size:]
        return part


def _number(dice, table):
    """A number of a table's type, as text."""
    return str(dice.randrange(10**6)) if table.endswith("_uint") else "%.4f" % dice.gauss(50, 9)


def _fields(table, rest):
    """A recorded row, as COPY text by column."""
    values = [
        (text.replace("''", "'") if text else other).translate(_COPY)
        for text, other in _FIELD.findall(rest)
    ]
    return dict(zip(SENT[table], values))


def _history(stream, dice, table, item):
    """Makes the columns of a row beside its key: numbers, or texts that the item has sent."""
    if table not in SENT:
        return lambda clock: {"value": _number(dice, table)}
    sent = [_fields(table, rest) for rest in stream.sent[table][item]]
    return lambda clock: dict(dice.choice(sent), timestamp=str(clock))


def _trend(dice, table):
    """The columns of a row beside its key."""
    low, middle, high = sorted((_number(dice, table) for _ in range(3)), key=float)
    return {"num": "60", "value_min": low, "value_avg": middle, "value_max": high}


def _rows(stream, arguments, table, first, last, interval):
    """Yields rows from first to last in the order of time, one text per interval."""
    dice = random.Random(table)
    columns = schema.column_names(table).split(", ")
    source = TRENDS.get(table, table)
    made = [
        (item + copy * STEP, None if table in TRENDS else _history(stream, dice, table, item))
        for copy in range(arguments.copies)
        for item in sorted(stream.items[source])
    ]
    for start in range(first - first % interval, last, interval):
        if start < first:
            continue
        rows = io.StringIO()
        for item, make in made:
            clock = start if make is None else start + item % min(60, interval)
            row = _trend(dice, table) if make is None else make(clock)
            row.update(itemid=str(item), clock=str(clock), ns=str(dice.randrange(10**9)))
            rows.write("\t".join(row[column] for column in columns) + "\n")
        yield rows.getvalue()


def earlier(stream, arguments, table):
    """Rows of the days before the recording, as COPY text in the order of time.

    Trends end before the first hour that the recording stores.
    """
    first = stream.began - arguments.days * periods.DAY
    if table not in TRENDS:
        return _rows(stream, arguments, table, first, stream.began, arguments.interval)
    last = min(stream.began - periods.HOUR, stream.first_clock.get(table, stream.began))
    return _rows(stream, arguments, table, first, last - last % periods.HOUR, periods.HOUR)
