"""Reading items that share their times: packed days with and without, and a plain table.

Two data sets of the size experiment: the same values of the same items, which in one
all have times of their own, while in the other two of three have a master's.  Only
such items are read, whole rows of past days in their order, as in the part
"packed".
"""

import random

from . import datasets, periods, read_packed, read_parts
from .progress import Progress
from .read_data import FIRST_ITEMID, TABLE, Installation, Size, fill_all

PART = "shared"
STORES = read_packed.STORES
REFERENCE = read_packed.REFERENCE

DAYS = 30
SIZES = "15:60,60:300,180:900"
QUICK_SIZES = "15:300"

# data sets, and what their question is called
ALONE, SHARED = "times of its own", "shared times"
DATASETS = {ALONE: "float", SHARED: "float-dependents"}
# of the data sets' generator: of so many items the first ones depend on one master
BLOCK, DEPENDENTS = 15, 10


def add_arguments(parser):
    """The part's own options."""
    parser.add_argument(
        "--shared-sizes",
        metavar="ITEMS:SECONDS,...",
        help='of the part "shared" (default: %s)' % SIZES,
    )


class SharedInstallation(Installation):
    """Past days of a data set; there is nothing of today."""

    def __init__(self, size, stores, days, name):
        super().__init__(size, stores, days)
        self.name = name
        self.dataset = datasets.chosen(DATASETS[name])[0]._replace(interval=size.step)

    def _opener(self, period):
        return datasets.opener(
            datasets.command(self.dataset, self.size.items, period, self.past[0])
        )

    @property
    def rows(self):
        return self.dataset.passes_a_day() * self.size.items * len(self.past)

    def fill(self, store):
        store.create((TABLE,), self.past + periods.days(0, 3))
        store.bulk_load(TABLE, [(period, self._opener(period)) for period in self.past])
        for period in self.past:
            store.close_period(TABLE, period)

    def item(self, chooser):
        """Any that depends on a master in one of the data sets."""
        items = [number for number in range(self.size.items) if number % BLOCK < DEPENDENTS]
        return FIRST_ITEMID + chooser.choice(items)

    def question(self, days):
        """Whole rows of so many days."""
        found = read_parts.packed_question(days)
        return read_parts.Question("%s, %s" % (found.name, self.name), found.ask)


def make(own, arguments):
    """The installations, in pairs, one of each data set."""
    text = arguments.shared_sizes or (QUICK_SIZES if arguments.quick else SIZES)
    days = min(DAYS, arguments.days)
    pairs = []
    for part in text.split(","):
        size = Size(*map(int, part.split(":")))
        pairs.append(
            [
                SharedInstallation(
                    size,
                    [
                        store
                        for store in own.copies("_%s_%d" % (PART + name[:1], size.items))
                        if store.name in STORES
                    ],
                    days,
                    name,
                )
                for name in DATASETS
            ]
        )
    return pairs


def measure_pair(pair, arguments, answers):
    """Asks both of a pair, in rounds of which the first warms up."""
    askers = [read_parts.Asker(installation, answers) for installation in pair]
    readers = {}
    for asker in askers:
        read_parts.compare_counts(asker)
        for store in asker.installation.stores:
            store.warm(TABLE)
        readers[asker] = {series: series.open() for series in asker.installation.series}
    runs = []
    for number in range(-1, arguments.rounds):
        for asker in random.Random(number).sample(askers, len(askers)):
            question = asker.installation.question(len(asker.installation.past))
            found = read_parts.ask_in_slices(
                asker, readers[asker], [question], number, arguments.slice, PART
            )
            runs += found if number >= 0 else []
    for of_asker in readers.values():
        for reader in of_asker.values():
            reader.close()
    return runs


def measure(own, arguments, answers):
    """All sizes."""
    pairs = make(own, arguments)
    fill_all([installation for pair in pairs for installation in pair])
    progress = Progress(len(pairs), PART)
    runs = []
    for pair in pairs:
        progress.show(pair[0].size.label)
        runs += measure_pair(pair, arguments, answers)
        progress.step()
    progress.finish()
    return runs


def cells(summary):
    """What was measured, by size and days: the cells of both data sets."""
    found = {}
    for cell in summary:
        if cell["part"] == PART:
            days, name = cell["question"].split(", ")
            found.setdefault((cell["items"], days), {})[name] = cell
    return {key: pair for key, pair in found.items() if len(pair) == len(DATASETS)}


def targets(summary):
    """(sentence, figure, limit, at_least): shared times are read as fast as others."""
    return [
        (
            "%s of %d items, shared times to times of their own, CPU a row" % (days, items),
            pair[ALONE]["series"][STORES[1]]["rows_per_cpu_second"]["median"]
            / pair[SHARED]["series"][STORES[1]]["rows_per_cpu_second"]["median"],
            1,
            False,
        )
        for (items, days), pair in cells(summary).items()
    ]
