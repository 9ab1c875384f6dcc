"""Cassandra: a partition of the table for each item and day."""

import itertools
import pathlib

from .. import cql, periods
from ..cassandra import CassandraServer
from .base import Reader
from . import schema
from .peer import PeerStore, joined

KEYSPACE = (
    "CREATE KEYSPACE %s WITH replication = " "{'class': 'SimpleStrategy', 'replication_factor': 1}"
)

KEY = "itemid bigint, clock int, ns int"
TABLE = (
    "CREATE TABLE %s.%s (" + KEY + ", day int, %s, "
    "PRIMARY KEY ((itemid, day), clock, ns)) "
    "WITH CLUSTERING ORDER BY (clock DESC, ns DESC)"
)

VALUES = {
    "history": "value double",
    "history_uint": "value varint",
    "history_str": "value text",
    "history_text": "value text",
    "history_log": "value text, timestamp int, source text, severity int, logeventid int",
}

SELECT = "SELECT %s FROM %s.%s WHERE itemid = ? AND day = ? AND clock >= ? AND clock < ?"


def columns_of(table):
    """(name, type) of a table's columns, in the order of Zabbix's, which is that of COPY."""
    types = dict(column.split() for column in (KEY + ", " + VALUES[table]).split(", "))
    return [(name, types[name]) for name in schema.column_names(table).split(", ")]


class CassandraReader(Reader):
    """Prepared statements, those of several partitions at the same time."""

    def __init__(self, store):
        self.connection = store.server.connect()
        self.namespace = store.namespace

    def _select(self, columns, table, asked, suffix=""):
        """Asks each of (itemid, day, start, stop); a Rows for each."""
        text = SELECT % (columns, self.namespace, table) + suffix
        return self.connection.execute_many(
            text,
            [
                [cql.bigint(itemid), cql.integer(day), cql.integer(start), cql.integer(stop)]
                for itemid, day, start, stop in asked
            ],
        )

    @staticmethod
    def _days(start, stop):
        """The partitions of a time, newest first."""
        return range((stop - 1) // periods.DAY, start // periods.DAY - 1, -1)

    def range(self, table, itemid, start, stop):
        found = self._select(
            "clock, ns, value",
            table,
            [(itemid, day, start, stop) for day in self._days(start, stop)],
        )
        return cql.Rows([page for rows in found for page in rows.pages])

    def newest(self, table, itemid, count, stop):
        """Day after day backwards; it gives up after a year without a value."""
        rows = []
        for day in itertools.islice(self._days(0, stop), 366):
            (found,) = self._select(
                "clock, ns, value",
                table,
                [(itemid, day, 0, stop)],
                " LIMIT %d" % (count - len(rows)),
            )
            rows.extend(found)
            if len(rows) >= count:
                break
        return rows

    def latest(self, table, itemids, start):
        """All items at once; those without a value that day once more for the day before."""
        rows, wanted = [], list(itemids)
        for day in self._days(start, self._now()):
            found = self._select(
                "itemid, clock, value, ns",
                table,
                [(itemid, day, start, 2**31 - 1) for itemid in wanted],
                " LIMIT 1",
            )
            rows.extend(answer[0] for answer in found if answer)
            wanted = [itemid for itemid, answer in zip(wanted, found) if not answer]
            if not wanted:
                break
        return rows

    @staticmethod
    def _now():
        """The end of the newest day that can have values."""
        return periods.clock(periods.today()) + 2 * periods.DAY

    def aggregate(self, table, itemid, start, stop):
        """By the server within each partition, and put together here."""
        found = self._select(
            "count(value), min(value), max(value), sum(value)",
            table,
            [(itemid, day, start, stop) for day in self._days(start, stop)],
        )
        parts = [answer[0] for answer in found if answer and answer[0][0]]
        count = sum(part[0] for part in parts)
        if not count:
            return [(0, None, None, None)]
        return [
            (
                count,
                min(part[1] for part in parts),
                max(part[2] for part in parts),
                sum(part[3] for part in parts) / count,
            )
        ]

    def close(self):
        self.connection.close()


class Cassandra(PeerStore):
    """Prepared statements, all of a batch under way at the same time."""

    name = "cassandra"
    label = "Cassandra"
    server_class = CassandraServer
    driver = "cassandra"
    ways = {"sql": ""}  # it calls it CQL

    def loader_arguments(self):
        return [
            "--driver=" + self.driver,
            "--dsn=127.0.0.1:%d/%s" % (self.server.port, self.namespace),
        ]

    def execute(self, text):
        """Runs one statement; tables are named with the keyspace."""
        return self.server.execute(text)

    def create_namespace(self):
        self.execute(KEYSPACE % self.namespace)

    def create_table(self, table, periods):
        """Partitions come and go with their rows."""
        del periods
        self.execute(self._definition(table))

    def _definition(self, table):
        return TABLE % (self.namespace, table, VALUES[table])

    def target(self, table):
        return "%s.%s" % (self.namespace, table)

    def clean(self):
        for table in self.tables:
            self.execute("TRUNCATE " + self.target(table))

    def settle(self):
        """Memtables become files, and these are merged."""
        self.server.nodetool("flush", self.namespace)
        self.server.nodetool("compact", self.namespace)

    def disk_bytes(self):
        self.server.nodetool("flush", self.namespace)
        directory = pathlib.Path(self.server.directory) / "data" / self.namespace
        return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())

    def open_reader(self, way):
        return CassandraReader(self)

    def copy_period(self, table, period, stream):
        """By files that are written beside the server: INSERTs would take several times as long."""
        del period
        self.server.load(self.namespace, table, self._definition(table), columns_of(table), stream)

    def copy_periods(self, table, parts):
        """All at once: each load starts two programs in Java."""
        with joined(parts) as stream:
            self.copy_period(table, None, stream)

    def bulk_load(self, table, parts):
        self.copy_periods(table, parts)
        self.settle()

    def drop(self):
        self.execute("DROP KEYSPACE IF EXISTS " + self.namespace)


class CassandraSync(Cassandra):
    """One INSERT after another, each awaited: what HistoryGluon did for a value."""

    name = "cassandra-sync"
    label = "Cassandra, one by one"
    driver = "cassandra-sync"
