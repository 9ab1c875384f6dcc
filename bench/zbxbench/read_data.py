"""What the read experiment reads: months of an installation's values, in each store."""

import dataclasses

from . import datasets, drivers, periods
from .progress import Progress
from .stores import STORES

TABLE = "history"
FIRST_ITEMID = 100000
RECENT = 7200  # seconds of today that hold a value a minute, whatever the interval
HOUR = 3600


@dataclasses.dataclass(frozen=True)
class Size:
    """An installation: its items, and seconds between two values of one in past days."""

    items: int
    step: int

    @property
    def label(self):
        """In tables and plots."""
        return "{:,} items, a value every {}".format(self.items, interval_text(self.step))


def interval_text(seconds):
    """An interval in words."""
    for unit, name in ((periods.DAY, "day"), (HOUR, "hour"), (60, "minute")):
        if seconds % unit == 0:
            count = seconds // unit
            return name if count == 1 else "%d %ss" % (count, name)
    return "%d seconds" % seconds


class Series:
    """A store, and one of the ways to read it."""

    def __init__(self, store, way):
        self.store = store
        self.way = way

    @property
    def key(self):
        """In results; also what its colour goes by."""
        return self.store.name if self.way == "sql" else "%s-%s" % (self.store.name, self.way)

    @property
    def label(self):
        """In tables and plots."""
        return self.store.label + self.store.ways[self.way]

    def open(self):
        """A new connection."""
        return self.store.open_reader(self.way)


def label_of(key):
    """The label of a series by its key."""
    for store in STORES.values():
        for way, addition in store.ways.items():
            if key in (store.name if way == "sql" else None, "%s-%s" % (store.name, way)):
                return store.label + addition
    return key


class Installation:
    """One size in all stores."""

    def __init__(self, size, stores, days):
        self.size = size
        self.stores = stores
        self.past = periods.days(-days, -1)
        self.today = periods.days(0, 0)[0]
        self.now = self.today.start + RECENT
        self.series = [Series(store, way) for store in stores for way in store.ways]

    def _stream_arguments(self, period):
        """The loader's options for the values of a day."""
        step = 60 if period == self.today else self.size.step
        seconds = RECENT if period == self.today else periods.DAY
        passes = seconds // step
        first = (period.start - self.past[0].start) // step
        load = drivers.Load(
            "loader",
            1000,
            1,
            passes * self.size.items,
            0,
            self.past[0].start,
            items=self.size.items,
            step=step,
            first_pass=first,
        )
        return ["--copy", "--by-pass", "--values=%d" % load.values] + drivers.stream_arguments(load)

    def _opener(self, period):
        """What gives the day's values as COPY text."""
        return datasets.opener([drivers.loader_path()] + self._stream_arguments(period))

    @property
    def rows(self):
        """How many rows a store must hold."""
        passes = len(self.past) * (periods.DAY // self.size.step) + RECENT // 60
        return passes * self.size.items

    def fill(self, store):
        """Makes and fills one store."""
        store.create((TABLE,), self.past + periods.days(0, 3))
        store.bulk_load(
            TABLE, [(period, self._opener(period)) for period in self.past + [self.today]]
        )
        for period in self.past:
            store.close_period(TABLE, period)

    def item(self, chooser):
        """Any of the items."""
        return FIRST_ITEMID + chooser.randrange(self.size.items)

    def items(self, chooser, count):
        """Some of the items, sorted."""
        numbers = chooser.sample(range(self.size.items), min(count, self.size.items))
        return sorted(FIRST_ITEMID + number for number in numbers)


def fill_all(installations):
    """Fills every store of every size."""
    progress = Progress(sum(len(each.stores) for each in installations), "fill")
    for installation in installations:
        for store in installation.stores:
            progress.show("%s, %s" % (store.label, installation.size.label))
            installation.fill(store)
            progress.step()
    progress.finish()
