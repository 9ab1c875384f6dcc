"""What the peers experiment asks, and what a store of it must do."""

from typing import NamedTuple

HOUR, WEEK, ITEMS, NEWEST, TOTAL = "hour", "week by hour", "items by hour", "newest", "total"
# which no store has ready: every value is looked at
ABOVE, HOURS = "total above", "total by hour"


class Question(NamedTuple):
    """What is asked: of some items, of clocks from start (included) to stop (not); values
    above a number."""

    kind: str
    items: list
    start: int
    stop: int
    above: float = 0.0


class Terms(NamedTuple):
    """What a store gives, and gives up."""

    duplicates: str
    changes: str
    crash: str
    times: str


def files_bytes(*places):
    """Bytes of files, and of all files in directories."""
    return sum(
        path.stat().st_size
        for place in places
        for path in [place, *place.rglob("*")]
        if path.is_file()
    )


class Contender:
    """A store, empty when it was started.

    NAME, LABEL: on the command line, in tables.  unit: of its times, in ns.
    ask() gives seconds, seconds of CPU, and rows: itemid, clock in ns, clock of
    an hour, value as the question has them.
    """

    NAME = ""
    LABEL = ""
    TERMS = None
    unit = 1

    def create(self, data):
        """Makes the table, empty."""
        raise NotImplementedError

    def load(self, data, sent):
        """Takes all days, one after another, and is through with all it has to do with them."""
        raise NotImplementedError

    def sent(self, data):
        """What load() sends, a day each, made before it is measured."""
        return [day.path for day in data.days]

    def cpu(self):
        """Seconds of CPU of the whole server so far."""
        raise NotImplementedError

    def disk_bytes(self):
        """Bytes of all that is kept."""
        raise NotImplementedError

    def ask(self, question):
        """Seconds, seconds of CPU, rows; None if it cannot be asked that."""
        raise NotImplementedError

    def clear(self):
        """Removes everything."""
        raise NotImplementedError


def total_above(question, table):
    """The sum of the values above a number, in any SQL."""
    return "SELECT sum(value) FROM %s WHERE value > %r" % (table, question.above)


def where(question, items="itemid", clock="clock"):
    """A question's items and times as a condition."""
    listed = ",".join(map(str, question.items))
    return "%s IN (%s) AND %s >= %d AND %s < %d" % (
        items,
        listed,
        clock,
        question.start,
        clock,
        question.stop,
    )
