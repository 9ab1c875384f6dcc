"""What all stores in PostgreSQL share: a database each, Zabbix's names in it."""

import itertools

from .. import counters, libpq
from ..cluster import OWNER, SUPERUSER
from . import schema
from .base import Reader, Store


class JoinedRows:
    """The rows of several results, one after another."""

    def __init__(self, results):
        self.results = results

    def __len__(self):
        return sum(map(len, self.results))

    def __getitem__(self, place):
        for result in self.results:
            if place < len(result):
                return result[place]
            place -= len(result)
        raise IndexError(place)


class PostgresReader(Reader):
    """A connection to which SQL is sent as text."""

    def __init__(self, store):
        self.connection = store.open_connection()

    def execute(self, text):
        """Sends one text of SQL."""
        return self.connection.execute(text)

    def server_cpu(self):
        return counters.process_cpu(self.connection.pid)

    def close(self):
        self.connection.close()


class SqlReader(PostgresReader):
    """Zabbix's own SELECTs, literals and all."""

    def range(self, table, itemid, start, stop):
        """As the server's value cache asks."""
        return self.execute(
            "select clock,ns,value from %s where itemid=%d and clock>%d and "
            "clock<=%d" % (table, itemid, start - 1, stop - 1)
        )

    def history(self, table, itemid, start, stop):
        """Whole rows in their order."""
        return self.execute(
            "SELECT * FROM %s WHERE itemid=%d AND clock>%d AND clock<=%d "
            "ORDER BY clock" % (table, itemid, start - 1, stop - 1)
        )

    def newest(self, table, itemid, count, stop):
        """As the server's value cache asks."""
        return self.execute(
            "select clock,ns,value from %s where itemid=%d and clock<=%d "
            "order by clock desc limit %d" % (table, itemid, stop - 1, count)
        )

    def latest(self, table, itemids, start):
        """As the frontend 7.0 asks for its "Latest data": a SELECT an item."""
        return JoinedRows(
            [
                self.execute(
                    "SELECT * FROM %s h WHERE h.itemid='%d' AND h.clock>%d ORDER BY "
                    "h.clock DESC,h.ns DESC LIMIT 1" % (table, itemid, start - 1)
                )
                for itemid in itemids
            ]
        )

    def aggregate(self, table, itemid, start, stop):
        return self.execute(
            "SELECT count(*), min(value), max(value), avg(value) FROM %s WHERE "
            "itemid='%d' AND clock>=%d AND clock<%d" % (table, itemid, start, stop)
        )


class PostgresStore(Store):
    """A database of its own, owned by the role Zabbix would use.

    The tables have Zabbix's names in every store, so that the load is the
    same text byte for byte.  options are given at connect, as PGOPTIONS.
    """

    options = ""
    ways = {"sql": ""}
    readers = {"sql": SqlReader}  # a class for each of the ways

    def __init__(self, cluster, suffix=""):
        """suffix: of the database's name, for several stores of a kind."""
        self.cluster = cluster
        self.database = "bench_" + self.name.replace("-", "_") + suffix
        self.tables = ()

    def execute(self, sql, user=OWNER):
        """Runs SQL in the store's database as its owner."""
        return self.cluster.execute(sql, self.database, user)

    def connect(self, user=OWNER):
        """A connection as the load's."""
        return self.cluster.connect(self.database, user, self.options)

    def dsn(self):
        """The connection string for the load."""
        return self.cluster.dsn(self.database, OWNER, self.options)

    def open_connection(self):
        """A connection of the role that Zabbix would use, as its server and PHP have it."""
        return libpq.Connection(self.dsn())

    def loader_arguments(self):
        return ["--dsn=" + self.dsn()]

    def server_cpu(self):
        return counters.server_cpu(self.cluster.postmaster_pid)

    def before_run(self):
        self.cluster.checkpoint()

    def after_run(self):
        self.cluster.wait_for_backends()

    def server_pid(self):
        return self.cluster.postmaster_pid

    def disk_bytes(self):
        return int(
            self.execute(
                "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c "
                "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'm') "
                "AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
            )[0][0]
        )

    def create(self, tables, periods, interval="daily"):
        self.tables = tuple(tables)
        self.cluster.execute(
            "CREATE DATABASE %s OWNER %s TEMPLATE template0" % (self.database, OWNER)
        )
        self.execute("GRANT CREATE ON SCHEMA public TO %s" % OWNER, SUPERUSER)
        self.prepare_database()
        for table in self.tables:
            self.create_table(table, periods, interval)

    def prepare_database(self):
        """What comes before the tables: extensions, functions."""

    def create_table(self, table, periods, interval):
        """One table with its partitions."""
        raise NotImplementedError

    def target(self, table):
        return table

    def partition(self, table, period):
        """The table that holds a period's rows, for bulk loading."""
        return "%s_%s" % (table, period.suffix)

    def clean(self):
        self.execute("TRUNCATE " + ", ".join(self.tables))

    def rows(self, table):
        return self.execute("SELECT count(*) FROM " + table)[0][0]

    def checksum(self, table):
        row = "ROW(%s)" % schema.column_names(table)
        sql = "SELECT coalesce(sum(hash_record_extended(%s, 0)), 0)::text FROM %s" % (row, table)
        return self.execute(sql)[0][0]

    def check(self):
        return []

    def maintain(self):
        """What is called by a timer, if anything."""

    def fill(self, table, stream):
        """Adds COPY text of days that are over, of all of them."""
        self.copy_from(table, stream)

    def copy_from(self, table, stream, options=""):
        """Bulk loads COPY text into one table, as superuser with the given settings."""
        connection = self.cluster.connect(self.database, SUPERUSER, options)
        try:
            with connection.cursor() as cursor:
                cursor.copy_expert("COPY %s FROM STDIN" % table, stream, 1 << 20)
        finally:
            connection.close()

    def open_reader(self, way):
        return self.readers[way](self)

    def indexed_tables(self, table, periods):
        """The tables whose primary key a bulk load takes off and makes again."""
        del periods
        return [table]

    def _drop_primary_key(self, table):
        name = self.execute(
            "SELECT quote_ident(conname) FROM pg_constraint WHERE contype = 'p' "
            "AND conrelid = '%s'::regclass" % table
        )[0][0]
        self.execute("ALTER TABLE %s DROP CONSTRAINT %s" % (table, name))

    def _copy_parts(self, holder, parts):
        """Rows go into the emptied table frozen, and unlogged where wal_level is minimal."""
        connection = self.connect()
        connection.autocommit = False
        try:
            with connection.cursor() as cursor:
                cursor.execute("TRUNCATE " + holder)
                for _, open_stream in parts:
                    with open_stream() as stream:
                        cursor.copy_expert("COPY %s FROM STDIN (FREEZE)" % holder, stream, 1 << 20)
            connection.commit()
        finally:
            connection.close()

    def bulk_load(self, table, parts):
        parts = list(parts)
        keyed = self.indexed_tables(table, [period for period, _ in parts])
        for name in keyed:
            self._drop_primary_key(name)
        # all names first: what is being filled is locked, and a look-up may wait for it
        named = [(self.partition(table, part[0]), part) for part in parts]
        for holder, group in itertools.groupby(named, lambda pair: pair[0]):
            self._copy_parts(holder, [part for _, part in group])
        for name in keyed:
            self.execute("ALTER TABLE %s ADD PRIMARY KEY (%s)" % (name, schema.primary_key(table)))
        self.settle()

    def filled(self, table, period):
        """The table into which a period's rows are loaded."""
        return self.partition(table, period)

    def copy_period(self, table, period, stream):
        self.copy_from(self.partition(table, period), stream)

    def settle(self):
        """Sets hint bits and the visibility map, so that no later run pays for a bulk load."""
        self.execute("VACUUM (FREEZE, ANALYZE)", SUPERUSER)

    def index_names(self, table, period):
        """The indexes of the table that holds a period's rows."""
        sql = (
            "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = '%s'::regclass"
            % self.partition(table, period)
        )
        return [row[0] for row in self.execute(sql)]

    def prewarm(self, table, period):
        """Reads a period's indexes into shared buffers, as a server that runs has them."""
        self.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm", SUPERUSER)
        for index in self.index_names(table, period):
            self.execute("SELECT pg_prewarm('%s')" % index, SUPERUSER)

    def warm(self, table):
        del table  # its parts may have any name, and there is nothing else
        self.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm", SUPERUSER)
        self.execute(
            "SELECT sum(pg_prewarm(c.oid)) FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind IN ('r', 'i', 't', 'm') AND pg_relation_size(c.oid) > 0 "
            "AND n.nspname <> 'information_schema'",
            SUPERUSER,
        )

    def rows_outside(self, table, holder):
        """A check: rows in a table that should hold none."""
        count = self.execute("SELECT count(*) FROM %s" % holder)[0][0]
        return (
            ["%s: %d rows of %s are in no partition" % (self.name, count, table)] if count else []
        )

    def drop(self):
        self.cluster.execute("DROP DATABASE IF EXISTS %s WITH (FORCE)" % self.database)
