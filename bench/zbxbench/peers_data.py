"""The data of the peers experiment: files of COPY text, one a day, the same for all stores."""

import datetime
import itertools
import re
import statistics
import subprocess
import sys
from typing import NamedTuple

from . import datasets, environment, periods

sys.path.append(str(environment.REPOSITORY / "scripts"))

from zbxrecord import pieces  # noqa: E402

DAYS = 7
INTERVAL = 60
RECORDING = environment.BENCH / "data" / "life"

_BY_NAME = {dataset.name: dataset for dataset in datasets.DATASETS}
# values of the recording come as they are; of the others a value a minute for a week
DATASETS = (
    datasets.Dataset("recording", "recording, floats", "history", "recording", 1),
    datasets.Dataset("recording-uint", "recording, unsigned", "history_uint", "recording", 1),
) + tuple(
    _BY_NAME[name]._replace(days=DAYS, interval=INTERVAL)
    for name in ("nab", "float-dependents", "float")
)

_ROW = re.compile(r"\((\d+),(\d+),(\d+),([^()']+)\)")


class Day(NamedTuple):
    """One day's values, in the order in which they came."""

    period: periods.Period
    path: str

    def rows(self):
        """The words of its lines: itemid, clock, value, ns."""
        with open(self.path, encoding="ascii") as file:
            for line in file:
                yield line.split()


class Data(NamedTuple):
    """A data set, made: values of all days, items, the hours that have values, begin and end, and
    a value that half of the others are above."""

    dataset: datasets.Dataset
    days: list
    values: int
    items: list
    hours: list
    start: int
    stop: int
    middle: float


def recorded(table):
    """The rows of a recording's INSERTs into a table, each once: (itemid, clock, value, ns)."""
    _, lines = pieces.read(str(RECORDING))
    head, found = "insert into %s " % table, {}
    for line in lines:
        if len(line) > 8 and line[7] is None and line[8].lower().startswith(head):
            for itemid, clock, ns, value in _ROW.findall(line[8]):
                found.setdefault((int(itemid), int(clock), int(ns)), value)
    return [(itemid, clock, value, ns) for (itemid, clock, ns), value in found.items()]


def write_recording(dataset, directory):
    """The days of the recording, moved by whole days so that the last one is yesterday."""
    rows = recorded(dataset.table)
    yesterday = periods.day(periods.today()).start - periods.DAY
    moved = yesterday - max(row[1] for row in rows) // periods.DAY * periods.DAY
    found = []
    rows.sort(key=lambda row: row[1] // periods.DAY)
    for number, group in itertools.groupby(rows, lambda row: (row[1] + moved) // periods.DAY):
        date = datetime.date(1970, 1, 1) + datetime.timedelta(days=number)
        day = Day(periods.day(date), "%s/%s-%s" % (directory, dataset.name, date))
        with open(day.path, "w", encoding="ascii") as file:
            for itemid, clock, value, ns in group:
                file.write("%d\t%d\t%s\t%d\n" % (itemid, clock + moved, value, ns))
        found.append(day)
    return found


def write_generated(dataset, items, limit, directory):
    """The days that bench/dataset writes."""
    wanted = datasets.days_of(dataset, limit)
    found = []
    for period in wanted:
        day = Day(period, "%s/%s-%s" % (directory, dataset.name, period.date))
        with open(day.path, "wb") as file:
            subprocess.run(
                datasets.command(dataset, items, period, wanted[0]), stdout=file, check=True
            )
        found.append(day)
    return found


def make(dataset, items, limit, directory):
    """Writes a data set's files; items and days at most are those of what is generated."""
    if dataset.kind == "recording":
        days = write_recording(dataset, directory)
    else:
        days = write_generated(dataset, items, limit, directory)
    seen, hours, values = set(), set(), []
    for day in days:
        for itemid, clock, value, _ in day.rows():
            seen.add(int(itemid))
            values.append(float(value))
            hours.add(int(clock) // periods.HOUR * periods.HOUR)
    stop = max(hours) + periods.HOUR
    middle = statistics.median_low(values)
    return Data(dataset, days, len(values), sorted(seen), sorted(hours), min(hours), stop, middle)
