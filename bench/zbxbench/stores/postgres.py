"""What stores in PostgreSQL have in common: a database each, with Zabbix's names in it."""

from .. import counters, libpq
from ..cluster import OWNER, SUPERUSER
from . import schema
from .base import Store


class PostgresStore(Store):
    """A database of its own, owned by the role of Zabbix.

    load_schema is called in the new database before the store's own tables are made.  The
    tables have Zabbix's names in every store, so that the load is the same text byte for byte.
    options have the form of PGOPTIONS.
    """

    options = ""

    def __init__(self, cluster, suffix=""):
        """suffix: part of the database's name, for several stores of a kind."""
        self.cluster = cluster
        self.database = "bench_" + self.name.replace("-", "_") + suffix
        self.tables = ()
        self.load_schema = None

    def execute(self, sql, user=OWNER):
        """Runs SQL in the store's database as its owner."""
        return self.cluster.execute(sql, self.database, user)

    def connect(self, user=OWNER):
        """A connection like the load's."""
        return self.cluster.connect(self.database, user, self.options)

    def dsn(self):
        """The connection string of the load."""
        return self.cluster.dsn(self.database, OWNER, self.options)

    def open_connection(self):
        """A connection like those of Zabbix's server and PHP."""
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

    def create(self, tables, periods):
        self.tables = tuple(tables)
        self.cluster.execute(
            "CREATE DATABASE %s OWNER %s TEMPLATE template0" % (self.database, OWNER)
        )
        self.execute("GRANT CREATE ON SCHEMA public TO %s" % OWNER, SUPERUSER)
        if self.load_schema:
            self.load_schema()
        self.prepare_database()
        for table in self.tables:
            self.create_table(table, periods)

    def prepare_database(self):
        """Creates what is needed before the tables: extensions, functions."""

    def create_table(self, table, periods):
        """Creates a table with its partitions."""
        raise NotImplementedError

    def partition(self, table, period):
        """The table of a period's rows, for bulk loading."""
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
        """Adds COPY text of days that are over."""
        self.copy_from(table, stream)

    def copy_from(self, table, stream):
        """Loads COPY text into a table, as superuser."""
        connection = self.cluster.connect(self.database, SUPERUSER)
        try:
            with connection.cursor() as cursor:
                cursor.copy_expert("COPY %s FROM STDIN" % table, stream, 1 << 20)
        finally:
            connection.close()

    def copy_period(self, table, period, stream):
        self.copy_from(self.partition(table, period), stream)

    def settle(self):
        """Sets hint bits and the visibility map, so that no later run pays for the bulk
        load."""
        self.execute("VACUUM (FREEZE, ANALYZE)", SUPERUSER)

    def index_names(self, table, period):
        """The indexes of the table of a period's rows."""
        sql = (
            "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = '%s'::regclass"
            % self.partition(table, period)
        )
        return [row[0] for row in self.execute(sql)]

    def prewarm(self, table, period):
        """Reads a period's indexes into shared buffers, as on a running server."""
        self.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm", SUPERUSER)
        for index in self.index_names(table, period):
            self.execute("SELECT pg_prewarm('%s')" % index, SUPERUSER)

    def rows_outside(self, table, holder):
        """Counts the rows of a table that must be empty."""
        count = self.execute("SELECT count(*) FROM %s" % holder)[0][0]
        return (
            ["%s: %d rows of %s are in no partition" % (self.name, count, table)] if count else []
        )

    def drop(self):
        self.cluster.execute("DROP DATABASE IF EXISTS %s WITH (FORCE)" % self.database)
