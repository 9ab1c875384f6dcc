"""What the stores in other database systems share."""

from .. import drivers
from .base import Store


class PeerStore(Store):
    """A namespace of its own in the one private server of its kind.

    server_class: the server's class, started when the first store is created
    """

    is_postgres = False
    server_class = None

    def __init__(self, cluster, suffix=""):
        """suffix: of the namespace, for several stores of a kind."""
        self.cluster = cluster
        self.server = None
        self.namespace = "bench_" + self.name.replace("-", "_") + suffix
        self.tables = ()

    @classmethod
    def missing(cls, cluster):
        return cls.server_class.missing()

    def start_server(self):
        """The server of its kind, if it is not running yet."""
        self.server = self.cluster.peer(self.server_class)

    def create(self, tables, periods):
        self.start_server()
        self.tables = tuple(tables)
        self.create_namespace()
        for table in self.tables:
            self.create_table(table, periods)

    def create_namespace(self):
        """What holds the tables."""

    def create_table(self, table, periods):
        """One table with its partitions."""
        raise NotImplementedError

    def server_pid(self):
        return self.server.process.pid

    def server_cpu(self):
        return self.server.cpu()

    def log(self, wal):
        """Its log is not measured."""

    def rows(self, table):
        return drivers.read_back(self, table)["rows"]

    def checksum(self, table):
        return drivers.read_back(self, table)["checksum"]

    def check(self):
        return []

    def maintain(self):
        """What is called by a timer, if anything."""

    def fill(self, table, stream):
        """Adds COPY text of days that are over, of all of them."""
        self.copy_period(table, None, stream)

    def settle(self):
        """It flushes and merges as it goes."""

    def before_run(self):
        """It flushes as it goes: there is no checkpoint to be asked for."""
