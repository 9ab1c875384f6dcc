"""The data sets of the size experiment: what they are, and how they get into a store."""

import contextlib
import subprocess
from typing import NamedTuple

from . import environment, periods

INTERVAL = 300
PASSES_A_DAY = periods.DAY // INTERVAL
DEPENDENTS = ("--dependents",)
TEMPLATES = ("--templates",)


class Dataset(NamedTuple):
    """Values of one table: what bench/dataset writes, for so many days."""

    name: str
    label: str
    table: str
    kind: str
    days: int
    options: tuple = ()
    interval: int = INTERVAL

    def passes_a_day(self):
        """Values of an item."""
        return periods.DAY // self.interval


DATASETS = (
    Dataset("float", "floats of 4 decimals", "history", "decimal", 30),
    Dataset("float-ns0", "the same, ns constant", "history", "decimal", 30, ("--ns-constant",)),
    Dataset("float-dependents", "floats, 2/3 dependent", "history", "decimal", 30, DEPENDENTS),
    Dataset("float-minute", "the same, a minute", "history", "decimal", 6, DEPENDENTS, 60),
    Dataset("float-templates", "like templates", "history", "decimal", 6, TEMPLATES, 60),
    Dataset("nab", "series of the NAB", "history", "series", 30),
    Dataset("nab-dependents", "NAB, 2/3 dependent", "history", "series", 30, DEPENDENTS),
    Dataset("uint", "unsigned counters", "history_uint", "counter", 10),
    Dataset("str", "repeated strings", "history_str", "state", 10),
    Dataset("text", "program output", "history_text", "text", 1),
    Dataset("log", "log lines", "history_log", "log", 2),
)


def chosen(names):
    """Data sets by their names, comma-separated."""
    wanted = names.split(",")
    known = {dataset.name: dataset for dataset in DATASETS}
    unknown = set(wanted) - set(known)
    if unknown:
        raise RuntimeError("no data set %s" % ", ".join(sorted(unknown)))
    return [known[name] for name in wanted]


def program():
    """The generator, built when it is not."""
    environment.build(environment.BENCH / "dataset")
    return str(environment.BENCH / "dataset" / "dataset")


def series_files():
    """The measured series, in a fixed order."""
    return sorted(str(path) for path in (environment.BENCH / "data" / "nab").glob("*.txt"))


def days_of(dataset, limit=None):
    """The days that a data set fills, the last one yesterday."""
    return periods.days(-min(dataset.days, limit or dataset.days), -1)


def command(dataset, items, day, first_day):
    """What writes one day's rows."""
    words = [
        program(),
        dataset.kind,
        "--items=%d" % items,
        "--interval=%d" % dataset.interval,
        "--passes=%d" % dataset.passes_a_day(),
        "--clock=%d" % first_day.start,
        "--first-pass=%d" % ((day.start - first_day.start) // dataset.interval),
    ]
    words += dataset.options
    return words + (series_files() if dataset.kind == "series" else [])


def opener(words):
    """What opens the output of a command line, as often as it is asked for."""

    @contextlib.contextmanager
    def open_stream():
        with subprocess.Popen(words, stdout=subprocess.PIPE) as source:
            yield source.stdout
        if source.returncode != 0:
            raise RuntimeError("%s failed" % words[0])

    return open_stream


def fill(store, dataset, items, days, first_day):
    """Loads some days, in the order of time, of a data set that begins with first_day."""
    store.copy_periods(
        dataset.table, [(day, opener(command(dataset, items, day, first_day))) for day in days]
    )
    return items * dataset.passes_a_day() * len(days)
