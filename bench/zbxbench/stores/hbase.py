"""HBase: HistoryGluon's first store."""
from .. import drivers
from ..hbase import HbaseServer
from .base import Store


class Hbase(Store):
    """A row a value; its key is itemid, clock, ns."""
    name = "hbase"
    label = "HBase"
    is_postgres = False

    def __init__(self, cluster, suffix=""):
        self.cluster = cluster
        self.server = None
        self.prefix = "bench%s_" % suffix
        self.tables = ()

    @classmethod
    def missing(cls, cluster):
        return HbaseServer.missing()

    def loader_arguments(self):
        return self.server.loader(self.target("history"))

    def server_pid(self):
        return self.server.process.pid

    def server_cpu(self):
        return self.server.cpu()

    def log(self, wal):
        """Its log is not measured."""

    def create(self, tables, periods, interval="daily"):
        if tuple(tables) != ("history",):
            raise RuntimeError("the loader for HBase sends floats only")
        self.server = self.cluster.peer(HbaseServer)
        self.tables = tuple(tables)
        self.server.administrate(self.target("history"), "--create")

    def target(self, table):
        return self.prefix + table

    def clean(self):
        for table in self.tables:
            self.server.administrate(self.target(table), "--clean")

    def rows(self, table):
        return drivers.read_back(self, table)["rows"]

    def checksum(self, table):
        return drivers.read_back(self, table)["checksum"]

    def check(self):
        return []

    def settle(self):
        """It flushes and compacts as it goes."""

    def before_run(self):
        """It flushes and compacts as it goes."""

    def drop(self):
        for table in self.tables:
            self.server.administrate(self.target(table), "--drop")
