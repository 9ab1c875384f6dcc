"""What an experiment may ask of a store."""

import abc


class Store(abc.ABC):
    """A place for values.

    name:        as on the command line
    label:       in tables and plots
    is_postgres: False for stores in another database system
    is_exact:    False if rows are other ones after their period has been closed
    """

    name = ""
    label = ""
    is_postgres = True
    is_exact = True

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
        """The loader's options that say where it writes to."""

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

    def after_run(self):
        """Waits until what the run left behind shows in the counters."""

    @abc.abstractmethod
    def create(self, tables, periods):
        """Makes the store with these tables, empty, and a partition for each period."""

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

    def copy_period(self, table, period, stream):
        """Adds rows of one period in the order in which they come, as a server would have them.

        stream: a binary file of COPY text, the columns of Zabbix's table in its order.
        """
        raise NotImplementedError

    def copy_periods(self, table, parts):
        """The same of several periods: (period, open_stream) in the order of time.

        open_stream() is a context manager that gives such a file.
        """
        for period, open_stream in parts:
            with open_stream() as stream:
                self.copy_period(table, period, stream)

    def close_period(self, table, period):
        """What the store does with a period that gets no more values, if anything."""

    @abc.abstractmethod
    def drop(self):
        """Removes everything."""
