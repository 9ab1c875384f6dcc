"""What an experiment may ask of a store."""

import abc


class Reader(abc.ABC):
    """One client's connection that reads values.

    Each method waits for the whole answer and returns it as a sequence of rows
    (len, index).  Its time is what is measured, so it does nothing else: values
    stay as they came, numbers or their text, and who compares converts them.
    Clocks are seconds; start is included, stop is not.
    """

    @abc.abstractmethod
    def range(self, table, itemid, start, stop):
        """An item's (clock, ns, value) in a time, in whatever order."""

    @abc.abstractmethod
    def newest(self, table, itemid, count, stop):
        """An item's newest (clock, ns, value) before stop, newest first."""

    @abc.abstractmethod
    def latest(self, table, itemids, start):
        """Each item's newest (itemid, clock, value, ns) from start on, in whatever order."""

    @abc.abstractmethod
    def aggregate(self, table, itemid, start, stop):
        """One row: (count, min, max, avg) of an item's values in a time."""

    def server_cpu(self):
        """Seconds of CPU that the server has used for this connection; None: unknown."""

    @abc.abstractmethod
    def close(self):
        """Disconnects."""


class Store(abc.ABC):
    """A place for values.

    name:        as on the command line
    label:       in tables and plots
    keeps_rows:  False for Null Write: then no rows are expected
    in_order:    a day is filled in the order of time, through the table itself
    is_postgres: False for stores in another database system
    is_exact:    False if rows are other ones after their period has been closed
    ways:        how values can be read, by name: the addition to the label.  The
                 first is the plain one
    unreadable:  why the read experiment leaves the store out, if it does
    """

    name = ""
    label = ""
    keeps_rows = True
    in_order = False
    is_postgres = True
    is_exact = True
    ways = {}
    unreadable = ""

    @classmethod
    def missing(cls, cluster):
        """Why the store cannot be measured here; None when it can."""
        del cluster

    def server_pid(self):
        """The process whose CPU, with that of its children, is the server's."""
        raise NotImplementedError

    def disk_bytes(self):
        """Bytes on disk of all that the store keeps: tables, indexes, maps, catalogs of its own."""
        raise NotImplementedError

    @abc.abstractmethod
    def loader_arguments(self):
        """The loader's options that say where it writes to.

        Where a loader of its own is needed, they begin with its command line.
        """

    @abc.abstractmethod
    def server_cpu(self):
        """Seconds of CPU which the whole server has used so far."""

    def log(self, wal):
        """What measures the log which the server writes ahead: wal is PostgreSQL's."""
        return wal

    @abc.abstractmethod
    def settle(self):
        """After a bulk load: leaves nothing to do which a later run would pay for."""

    @abc.abstractmethod
    def before_run(self):
        """Puts what earlier runs left in memory away, as far as the server can."""

    def catch_up(self):
        """Waits until what works on the values in the background is through with them."""

    def after_run(self):
        """Waits until what the run left behind shows in the counters."""

    @abc.abstractmethod
    def create(self, tables, periods, interval):
        """Makes the store with these tables, empty, and a partition for each period."""

    @abc.abstractmethod
    def target(self, table):
        """The name of the table the load goes to."""

    @abc.abstractmethod
    def clean(self):
        """Empties the tables, keeps partitions."""

    @abc.abstractmethod
    def rows(self, table):
        """How many rows are stored."""

    @abc.abstractmethod
    def checksum(self, table):
        """A number that is equal when the rows are, in whatever order.

        Equal between stores of one database system only; drivers.read_back()
        gives one that is equal between all.
        """

    @abc.abstractmethod
    def check(self):
        """What is wrong with the store itself: a list of sentences."""

    def bulk_load(self, table, parts):
        """Fills an empty table as fast as it can be, and leaves it as after a vacuum.

        parts: (period, open_stream) in the order of time.  open_stream() is a
        context manager that gives a binary file of COPY text, "itemid clock
        value ns" separated by tabs, in the order of time; all rows are of the
        period, and values are floats.
        """
        raise NotImplementedError

    def copy_period(self, table, period, stream):
        """Adds rows of one period in the order in which they come, as a server would have them.

        stream: a binary file of COPY text, the columns of Zabbix's table in its order.
        """
        raise NotImplementedError

    def copy_periods(self, table, parts):
        """The same of several periods; parts as bulk_load() has them, of any type of value."""
        for period, open_stream in parts:
            with open_stream() as stream:
                self.copy_period(table, period, stream)

    def close_period(self, table, period):
        """What the store does with a period that gets no more values, if anything."""

    def warm(self, table):
        """Reads all of a table into the server's memory, as far as it has room."""

    def open_reader(self, way):
        """A new connection that reads in one of the ways."""
        raise NotImplementedError

    @abc.abstractmethod
    def drop(self):
        """Removes everything."""
