"""Aggregates of many days by plain SQL: a plain table against packed days.

What graphs, dashboards and top lists ask: the frontend's graph of an item, an
hourly average of many items as Grafana wants it, and count, extremes and
average of still more.  Nothing of today, which is not packed.  Every answer is
compared; the last digits of an average depend on the order of rows.
"""

import math
import random
import time

from . import libpq, periods, read_packed, read_parts
from .read_data import RECENT, TABLE

STORES = read_packed.STORES
REFERENCE = read_packed.REFERENCE
PART = "aggregates"

DAYS = 30
# what is asked, of how many items, and the project's limit, as a part of the plain table's time
GRAPH, HOURLY, TOTALS = "frontend's graph", "hourly average", "count, min, max, avg"
ITEMS = {GRAPH: 1, HOURLY: 100, TOTALS: 1000}
LIMITS = {GRAPH: 0.25, HOURLY: 0.15, TOTALS: 0.05}


def statement(question, items, first, last):
    """SQL for a question, of clocks from first to last, both included."""
    where = "FROM %s WHERE itemid IN (%s) AND clock>=%d AND clock<=%d" % (
        TABLE,
        ",".join(map(str, items)),
        first,
        last,
    )
    if question == GRAPH:
        key = "round(900.0*(clock-%d)/%d,0)" % (first, last + 1 - first)
        return (
            "SELECT itemid,COUNT(*) AS count,AVG(value) AS avg,MIN(value) AS min,"
            "MAX(value) AS max,%s AS i,MAX(clock) AS clock %s GROUP BY itemid,%s"
            % (key, where, key)
        )
    if question == HOURLY:
        return (
            "SELECT itemid,clock/3600*3600 AS time,AVG(value) %s GROUP BY itemid,clock/3600*3600"
            % where
        )
    return "SELECT itemid,count(*),min(value),max(value),avg(value) %s GROUP BY itemid" % where


def questions_of(installation, days, round_number):
    """(name, text) of what is asked in a round, the same for all stores."""
    last = installation.now - RECENT - 1
    chooser = random.Random(round_number)
    found = []
    for question in ITEMS:
        items = installation.items(chooser, ITEMS[question])
        name = "%s of %d items, %d days" % (question, len(items), days)
        found.append((name, statement(question, items, last + 1 - days * periods.DAY, last)))
    return found


def _number(value):
    """A number as such; texts and nulls as they are."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _order(value):
    """What a value is sorted by, of whichever kind."""
    if isinstance(value, float):
        return (0, round(value, 6), "")
    return (1, 0, value or "")


def _are_equal(mine, other):
    """Whether two values are, but for the last digits."""
    if isinstance(mine, float) and isinstance(other, float):
        return math.isclose(mine, other, rel_tol=1e-9, abs_tol=1e-9)
    return mine == other


class Expected:
    """The answers of one store to a round's questions, which the others must give, too."""

    def __init__(self, problems):
        self.problems = problems
        self.known = {}

    def note(self, series, question, rows):
        """Compares rows, whatever their order, numbers to nine digits."""
        rows = [[_number(value) for value in row] for row in rows]
        # averages that differ in their last digits only must not change the order
        rows.sort(key=lambda row: list(map(_order, row)))
        name, expected = self.known.setdefault(question, (series.key, rows))
        if len(rows) != len(expected) or not all(
            _are_equal(mine, other)
            for row, as_expected in zip(rows, expected)
            for mine, other in zip(row, as_expected)
        ):
            self.problems.append("%s: %s: other rows than %s" % (series.key, question, name))


def measure(asker, arguments, progress):
    """All questions of all stores, in rounds of which the first warms up."""
    installation = asker.installation
    progress.show("%s, %s" % (PART, installation.size.label))
    series = [each for each in installation.series if each.key in STORES]
    kept = {each: libpq.Connection(each.store.dsn()) for each in series}
    found = []
    for round_number in range(-1, arguments.rounds):
        expected = Expected(asker.answers.problems)
        days = min(DAYS, arguments.days)
        for name, text in questions_of(installation, days, round_number):
            for each in random.Random(round_number).sample(series, len(series)):
                started = time.perf_counter()
                rows = kept[each].execute(text)
                seconds = time.perf_counter() - started
                expected.note(each, name, rows)
                if round_number >= 0:
                    measured = {"latencies": [seconds], "rows": len(rows)}
                    question = read_parts.Question(name, None)
                    found.append(asker.describe(measured, PART, each, question, round=round_number))
    for connection in kept.values():
        connection.close()
    progress.step()
    return found


def targets(ratio, sizes):
    """(sentence, figure, limit, at_least) for each size of as many items as are asked for."""
    found = []
    for size in sizes:
        for question, limit in LIMITS.items():
            if size.items < ITEMS[question]:
                continue
            name = "%s of %d items, %d days" % (question, ITEMS[question], DAYS)
            found.append(
                (
                    "%s, %s: packed days to a plain table, time" % (name, size.label),
                    ratio(
                        "median_ms",
                        STORES[1],
                        REFERENCE,
                        part=PART,
                        items=size.items,
                        question=name,
                    ),
                    limit,
                    False,
                )
            )
    return found
