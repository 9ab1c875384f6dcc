"""What an experiment may ask of a store."""
import abc


class Store(abc.ABC):
    """A place for values.

    name:        as on the command line
    label:       in tables and plots
    keeps_rows:  False for Null Write: then no rows are expected
    """
    name = ""
    label = ""
    keeps_rows = True

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

    @abc.abstractmethod
    def settle(self):
        """After a bulk load: leaves nothing to do which a later run would pay for."""

    @abc.abstractmethod
    def before_run(self):
        """Puts what earlier runs left in memory away, as far as the server can."""

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
        """A number that is equal when the rows are, in whatever order."""

    @abc.abstractmethod
    def check(self):
        """What is wrong with the store itself: a list of sentences."""

    @abc.abstractmethod
    def drop(self):
        """Removes everything."""
