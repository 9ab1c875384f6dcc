"""The interface of stores."""

import abc


class Store(abc.ABC):
    """A place for values.

    name:        as on the command line
    label:       in tables and plots
    is_postgres: False for stores in another database system
    is_exact:    False if closing a period changes its rows
    """

    name = ""
    label = ""
    is_postgres = True
    is_exact = True

    @classmethod
    def missing(cls, cluster):
        """Why the store cannot be measured here; None if it can."""
        del cluster

    def server_pid(self):
        """The server's main process; its CPU and that of its children is the server's."""
        raise NotImplementedError

    def disk_bytes(self):
        """Bytes on disk of everything that the store keeps: tables, indexes, maps, its own
        catalogs."""
        raise NotImplementedError

    @abc.abstractmethod
    def loader_arguments(self):
        """The loader's options that tell it where to write."""

    @abc.abstractmethod
    def server_cpu(self):
        """CPU seconds that the whole server has used so far."""

    def wal_counter(self, wal):
        """The counter of the server's WAL; wal is that of the private cluster."""
        return wal

    @abc.abstractmethod
    def settle(self):
        """After a bulk load: does the work that a later run would otherwise pay for."""

    @abc.abstractmethod
    def before_run(self):
        """Flushes what earlier runs have left in memory, as far as the server can."""

    def after_run(self):
        """Waits until the counters include the run."""

    @abc.abstractmethod
    def create(self, tables, periods):
        """Makes the store with these tables, empty, and a partition per period."""

    @abc.abstractmethod
    def clean(self):
        """Empties the tables; partitions stay."""

    @abc.abstractmethod
    def rows(self, table):
        """The number of stored rows."""

    @abc.abstractmethod
    def checksum(self, table):
        """A checksum that is equal if the rows are, in any order.

        It is comparable only within a database system; drivers.read_back() has one for all.
        """

    @abc.abstractmethod
    def check(self):
        """What is wrong with the store itself: a list of sentences."""

    def copy_period(self, table, period, stream):
        """Adds the rows of a period in the order in which they arrive on a server.

        stream: a binary file of COPY text with the columns of Zabbix's table in their order.
        """
        raise NotImplementedError

    def copy_periods(self, table, parts):
        """The same for several periods: (period, open_stream) in the order of time.

        open_stream() is a context manager that returns such a file.
        """
        for period, open_stream in parts:
            with open_stream() as stream:
                self.copy_period(table, period, stream)

    def close_period(self, table, period):
        """What the store does with a period that gets no more values, if anything."""

    @abc.abstractmethod
    def drop(self):
        """Removes everything."""
