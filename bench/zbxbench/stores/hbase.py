"""HBase: HistoryGluon's first store."""

from ..hbase import HbaseServer
from .peer import PeerStore


class Hbase(PeerStore):
    """A row a value; its key is itemid, clock, ns."""

    name = "hbase"
    label = "HBase"
    server_class = HbaseServer
    unreadable = (
        "its client is for Java only, whose times would not be those of the "
        "clients in C and Python"
    )

    def loader_arguments(self):
        return self.server.loader(self.target("history"))

    def create_table(self, table, periods):
        """Regions are not split in a short run."""
        del periods
        if table != "history":
            raise RuntimeError("the loader for HBase sends floats only")
        self.server.administrate(self.target(table), "--create")

    def target(self, table):
        return "%s_%s" % (self.namespace, table)

    def clean(self):
        for table in self.tables:
            self.server.administrate(self.target(table), "--clean")

    def drop(self):
        for table in self.tables:
            self.server.administrate(self.target(table), "--drop")
