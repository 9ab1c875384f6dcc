"""What stores in other database systems have in common."""

from .. import drivers
from .base import Store


class PeerStore(Store):
    """A namespace in the one private server of its kind.

    server_class: the class of the server, which is started for the first store
    """

    is_postgres = False
    server_class = None

    def __init__(self, cluster, suffix=""):
        """suffix: part of the namespace's name, for several stores of a kind."""
        self.cluster = cluster
        self.server = None
        self.namespace = "bench_" + self.name.replace("-", "_") + suffix
        self.tables = ()

    @classmethod
    def missing(cls, cluster):
        return cls.server_class.missing()

    def start_server(self):
        """The server of its kind, started if necessary."""
        self.server = self.cluster.peer(self.server_class)

    def create(self, tables, periods):
        self.start_server()
        self.tables = tuple(tables)
        self.create_namespace()
        for table in self.tables:
            self.create_table(table, periods)

    def create_namespace(self):
        """Creates the namespace of the tables."""

    def create_table(self, table, periods):
        """Creates a table with its partitions."""
        raise NotImplementedError

    def server_pid(self):
        return self.server.process.pid

    def server_cpu(self):
        return self.server.cpu()

    def wal_counter(self, wal):
        """None: its WAL is not measured."""

    def rows(self, table):
        return drivers.read_back(self, table)["rows"]

    def checksum(self, table):
        return drivers.read_back(self, table)["checksum"]

    def check(self):
        return []

    def maintain(self):
        """What is called by a timer, if anything."""

    def fill(self, table, stream):
        """Adds COPY text of days that are over."""
        self.copy_period(table, None, stream)

    def settle(self):
        """Nothing: it flushes and merges by itself."""

    def before_run(self):
        """Nothing: it flushes by itself, and no checkpoint can be requested."""
