"""The extension: as installed, by the trigger alone, row at a time, without a key."""

import time

from .. import counters, environment, libpq
from ..cluster import OWNER, SUPERUSER
from ..periods import days, hours
from . import schema
from .postgres import PostgresReader, PostgresStore, SqlReader

PATIENCE = 600  # seconds that runs may take to be merged


class FunctionReader(PostgresReader):
    """The extension's functions."""

    def range(self, table, itemid, start, stop):
        return self.execute(
            "SELECT clock,ns,value FROM zbxhist.range(NULL::%s,%d,%d,%d)"
            % (table, itemid, start, stop)
        )

    def history(self, table, itemid, start, stop):
        """Whole rows in their order."""
        return self.execute(
            "SELECT * FROM zbxhist.range(NULL::%s,%d,%d,%d)" % (table, itemid, start, stop)
        )

    def newest(self, table, itemid, count, stop):
        return self.execute(
            "SELECT clock,ns,value FROM zbxhist.range(NULL::%s,%d,0,%d,'desc',%d)"
            % (table, itemid, stop, count)
        )

    def latest(self, table, itemids, start):
        return self.execute(
            "SELECT * FROM zbxhist.last_values(NULL::%s,'{%s}',1,%d)"
            % (table, ",".join(map(str, itemids)), start)
        )

    def aggregate(self, table, itemid, start, stop):
        return self.execute(
            "SELECT count,min,max,avg FROM zbxhist.statistics('%s',%d,%d,%d)"
            % (table, itemid, start, stop)
        )


def missing_procedure(cluster, name):
    """Whether the installed version can pack or compact; nothing of the look remains."""
    found = cluster.execute(
        "BEGIN; CREATE EXTENSION zbxhist; SELECT "
        "to_regprocedure('zbxhist.%s(regclass, date)')::text" % name
    )
    return None if found[0][0] else "the installed version has no zbxhist." + name


def missing_runs(cluster):
    """Whether the installed version stores runs; nothing of the look remains."""
    found = cluster.execute(
        "BEGIN; CREATE EXTENSION zbxhist; SELECT 1 FROM pg_proc WHERE proname = 'create_runs'"
    )
    return None if found else "the installed version has no runs"


def merges(cursor):
    """Whether a worker merges runs, or maintenance has found some to be merged."""
    cursor.execute(
        "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'zbxhist merge' "
        "AND datname = current_database()"
    )
    if cursor.fetchall():
        return True
    cursor.execute(
        "SELECT count(*) FILTER (WHERE zbxhist_internal.merge_runs(d.day) <> 0) "
        "FROM zbxhist.packed_day d WHERE d.runs"
    )
    return cursor.fetchone()[0] > 0


class Zbxhist(PostgresStore):
    """As installed: literals planned without planner and trigger, rows multi-inserted."""

    name = "zbxhist"
    label = "zbxhist"
    has_key = True
    ways = {"sql": "", "functions": ", functions"}
    readers = {"sql": SqlReader, "functions": FunctionReader}

    @classmethod
    def missing(cls, cluster):
        if not cluster.has_extension("zbxhist"):
            return "the extension is not installed: make install"
        return None

    def prepare_database(self):
        self.execute("CREATE EXTENSION zbxhist")
        # as zbxhist.setup() has it; a session that only reads would not load the library
        self.execute(
            "ALTER DATABASE %s SET session_preload_libraries = 'zbxhist'" % self.database, SUPERUSER
        )

    def create_table(self, table, periods, interval):
        width = "1 day" if interval == "daily" else "1 month"
        self.execute(schema.create_table(table, has_key=self.has_key))
        self.execute("SELECT zbxhist.create_parent('%s', '%s')" % (table, width))
        for period in periods:
            self.partition(table, period)

    def partition(self, table, period):
        return self.execute(
            "SELECT zbxhist.create_partition('%s', '%s')::text" % (table, period.date)
        )[0][0]

    def indexed_tables(self, table, periods):
        return [self.partition(table, period) for period in periods]

    def check(self):
        return [
            problem
            for table in self.tables
            for problem in self.rows_outside(table, "ONLY " + table)
        ]


class ZbxhistPacked(Zbxhist):
    """Days that have ended are packed."""

    name = "zbxhist-packed"
    label = "zbxhist, packed days"

    @classmethod
    def missing(cls, cluster):
        return super().missing(cluster) or missing_procedure(cluster, "pack")

    def close_period(self, table, period):
        self.execute("CALL zbxhist.pack('%s', '%s')" % (table, period.date))


class ZbxhistArchived(ZbxhistPacked):
    """Packed days that are moved to databases of a second cluster, by postgres_fdw."""

    name = "zbxhist-archived"
    label = "zbxhist, archived days"
    servers = ("cold", "colder")

    @classmethod
    def missing(cls, cluster):
        if not cluster.has_extension("postgres_fdw"):
            return "postgres_fdw is not installed"
        return super().missing(cluster)

    @property
    def cold(self):
        """The second cluster."""
        return self.cluster.twin(cluster_name="archive")

    def prepare_database(self):
        super().prepare_database()
        self.execute("CREATE EXTENSION postgres_fdw", SUPERUSER)
        table = environment.REPOSITORY / "dist" / "archive" / "archive.sql"
        for server in self.servers:
            self.cold.execute("CREATE DATABASE %s OWNER %s" % (server, OWNER))
            self.cold.execute(table.read_text(encoding="utf-8"), server, OWNER)
            self.execute(
                "CREATE SERVER {0} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{1}', dbname '{0}'); "
                "GRANT USAGE ON FOREIGN SERVER {0} TO {2}; "
                "CREATE USER MAPPING FOR {2} SERVER {0} OPTIONS (user '{2}', password_required 'false')".format(
                    server, self.cold.directory / "socket", OWNER
                ),
                SUPERUSER,
            )

    def archive_on(self, table, number):
        """From now on days are moved to the server of that number, by turns."""
        server = self.servers[number % len(self.servers)]
        self.execute("SELECT zbxhist.alter_parent('%s', archive_server => '%s')" % (table, server))

    def go_through(self, directory):
        """From now on sessions find the second cluster by the socket in this directory."""
        for server in self.servers:
            self.execute("ALTER SERVER %s OPTIONS (SET host '%s')" % (server, directory), SUPERUSER)

    def open_there(self):
        """A connection to the second cluster, by the way that the archive has."""
        host = self.execute(
            "SELECT split_part(o, '=', 2) FROM pg_foreign_server, unnest(srvoptions) o "
            "WHERE srvname = 'cold' AND o LIKE 'host=%'"
        )[0][0]
        return libpq.Connection("host=%s port=5432 user=%s dbname=cold" % (host, OWNER))

    def move(self, table, step, period):
        """Archives or unarchives a day, as its procedure does, but without pauses."""
        connection = self.open_connection()
        day = connection.execute(
            "SELECT day FROM zbxhist.packed_day WHERE parent = '%s'::regclass AND from_clock = %d"
            % (table, period.start)
        )[0][0]
        while (
            connection.execute(
                "SELECT zbxhist_internal.run_by_hand('%s', '%s', '%s')" % (table, step, day)
            )[0][0]
            != "done"
        ):
            pass
        connection.close()

    def payload(self, table):
        """Bytes of the groups of days that are archived."""
        return int(
            self.execute(
                "SELECT sum(c.bytes) FROM zbxhist.packed_day d "
                "JOIN zbxhist.archive_copy c ON c.copy = d.archive_copy "
                "WHERE d.parent = '%s'::regclass" % table
            )[0][0]
        )

    def settle_there(self):
        """As autovacuum would have left the second cluster."""
        for server in self.servers:
            self.cold.execute("VACUUM (FREEZE, ANALYZE)", server)


class ZbxhistRounded(ZbxhistPacked):
    """Packed days whose times are rounded, which the policy does when they are a week old."""

    name = "zbxhist-packed-ms"
    label = "zbxhist, packed, times to 1 ms"
    is_exact = False
    precision = "1 ms"

    def create_table(self, table, periods, interval):
        super().create_table(table, periods, interval)
        # younger than alter_parent allows
        self.execute(
            "UPDATE zbxhist.parent_config SET time_precision = '%s', "
            "time_precision_after = '1 second' WHERE parent = '%s'::regclass"
            % (self.precision, table)
        )

    def close_period(self, table, period):
        super().close_period(table, period)
        self.execute("CALL zbxhist.repack('%s', '%s')" % (table, period.date))


class ZbxhistRoundedToSeconds(ZbxhistRounded):
    """The same, to a second."""

    name = "zbxhist-packed-s"
    label = "zbxhist, packed, times to 1 s"
    precision = "1 s"


class ZbxhistTrigger(Zbxhist):
    """Every row through the C trigger, buffered and multi-inserted."""

    name = "zbxhist-trigger"
    label = "zbxhist, batch trigger"
    options = "-c zbxhist.enable_fast_insert=off"


class ZbxhistRows(Zbxhist):
    """The same trigger, one heap_insert a row."""

    name = "zbxhist-rows"
    label = "zbxhist, row at a time"
    options = "-c zbxhist.enable_batching=off"


class ZbxhistNoKey(Zbxhist):
    """As installed, but without the primary key: what storing a value costs apart from it.

    For comparison with Null Write only.  Zabbix needs the key.
    """

    name = "zbxhist-nokey"
    label = "zbxhist, without key"
    has_key = False


class ZbxhistRuns(Zbxhist):
    """Hours take their values as runs: those of today, none of which is packed yet."""

    name = "zbxhist-runs"
    label = "zbxhist, runs"
    in_order = True

    @classmethod
    def missing(cls, cluster):
        return super().missing(cluster) or missing_runs(cluster)

    def create_table(self, table, periods, interval):
        del interval
        self.execute(schema.create_table(table))
        # the hours are made below, from midnight on, whatever the clock says
        self.execute("SELECT zbxhist.create_parent('%s', '1 day')" % table)
        for period in periods:
            self.execute("DROP TABLE " + self.partition(table, period))
            for part in self.parts(period):
                self.execute(
                    "SELECT zbxhist_internal.create_runs('%s', %d, %d)"
                    % (table, part.start, part.stop)
                )

    def parts(self, period):
        """The tables of a day, or of a month."""
        return hours(period) if period == days(0, 0)[0] else [period]

    def filled(self, table, period):
        return table

    def index_names(self, table, period):
        return [
            row[0]
            for row in self.execute(
                "SELECT i.indexrelid::regclass::text FROM pg_index i "
                "JOIN zbxhist.packed_day d ON d.day = i.indrelid "
                "WHERE d.parent = '%s'::regclass AND d.runs AND d.from_clock >= %d "
                "AND d.to_clock <= %d" % (table, period.start, period.stop)
            )
        ]

    def clean(self):
        self.catch_up()
        super().clean()

    def catch_up(self):
        """Until there is no worker, and maintenance finds nothing left to merge."""
        deadline = time.monotonic() + PATIENCE
        connection = self.connect(SUPERUSER)
        try:
            with connection.cursor() as cursor:
                while merges(cursor):
                    if time.monotonic() > deadline:
                        raise RuntimeError("runs are still being merged")
                    time.sleep(0.2)
        finally:
            connection.close()


class Preloaded:
    """In a cluster of its own, with the library in shared_preload_libraries."""

    def __init__(self, cluster, suffix=""):
        super().__init__(cluster.twin(shared_preload_libraries="zbxhist"), suffix)
        self.own_log = None

    def log(self, wal):
        del wal
        if self.own_log is None:
            self.own_log = counters.Wal(self.cluster)
        return self.own_log


class ZbxhistRunsPreloaded(Preloaded, ZbxhistRuns):
    """Keys of what is new are in shared memory then."""

    name = "zbxhist-runs-preloaded"
    label = "zbxhist, runs, preloaded"


class ZbxhistRunsOfDay(ZbxhistRuns):
    """The same, a whole day as one table."""

    name = "zbxhist-runs-day"
    label = "zbxhist, runs of a day"

    def parts(self, period):
        return [period]


class ZbxhistByDay(Zbxhist):
    """A policy of its own, and what maintenance makes of it: partitions come and are packed."""

    name = "zbxhist-day"
    label = "zbxhist, by day"
    partition_interval = "1 day"
    pack_after = "1 day"

    @classmethod
    def missing(cls, cluster):
        return super().missing(cluster) or missing_procedure(cluster, "pack")

    def create_table(self, table, periods, interval):
        del periods, interval
        self.execute(schema.create_table(table))
        self.execute(
            "SELECT zbxhist.create_parent('%s', '%s', pack_after => '%s')"
            % (table, self.partition_interval, self.pack_after)
        )


class ZbxhistByHour(ZbxhistByDay):
    """Hours, packed an hour after their end."""

    name = "zbxhist-hour"
    label = "zbxhist, by hour"
    partition_interval = "1 hour"
    pack_after = "1 hour"


class ZbxhistByHourCompacted(ZbxhistByHour):
    """The same, and the packed hours of a day become a packed day."""

    name = "zbxhist-hour-compacted"
    label = "zbxhist, by hour, compacted"

    @classmethod
    def missing(cls, cluster):
        return super().missing(cluster) or missing_procedure(cluster, "compact")

    def close_period(self, table, period):
        self.execute("CALL zbxhist.compact('%s', '%s')" % (table, period.date))


class ZbxhistByHalfHourCompacted(ZbxhistByHourCompacted):
    """The same in halves: a key's page is written for half as many checkpoints."""

    name = "zbxhist-half-hour-compacted"
    label = "zbxhist, by half an hour, compacted"
    partition_interval = "30 minutes"


class ZbxhistByHourRuns(ZbxhistByHourCompacted):
    """Hours take their values as runs, are packed, and become a packed day."""

    name = "zbxhist-hour-runs"
    label = "zbxhist, by hour, runs"

    @classmethod
    def missing(cls, cluster):
        return super().missing(cluster) or missing_runs(cluster)

    def create_table(self, table, periods, interval):
        del periods, interval
        self.execute(schema.create_table(table))
        self.execute(
            "SELECT zbxhist.create_parent('%s', '%s', pack_after => '%s', ingest => 'runs')"
            % (table, self.partition_interval, self.pack_after)
        )


class ZbxhistSetup(Zbxhist):
    """As setup() makes it of Zabbix's tables, with maintenance by a timer."""

    name = "zbxhist-setup"
    label = "zbxhist, heap hours"
    ingest = "heap"

    def create_table(self, table, periods, interval):
        del periods, interval
        self.execute(schema.create_table(table))

    def create(self, tables, periods, interval="daily"):
        super().create(tables, periods, interval)
        self.execute("SELECT * FROM zbxhist.setup(ingest => '%s')" % self.ingest)

    def maintain(self):
        self.execute("CALL zbxhist.run_maintenance()")

    def fill(self, table, stream):
        """Straight into packed days."""
        self.execute("CREATE TABLE before (LIKE %s INCLUDING DEFAULTS)" % table)
        self.copy_from("before", stream)
        self.execute("CREATE EXTENSION IF NOT EXISTS zbxhist_migrate")
        self.execute("CALL zbxhist.import('before', '%s')" % table)
        self.execute("DROP TABLE before")
        # what was too young to be packed does not stay in the table, as the guide has it
        self.execute("SELECT zbxhist.alter_parent('%s', move_existing => true)" % table)

    def check(self):
        return []


class ZbxhistSetupRuns(ZbxhistSetup):
    """The same, hours stored as runs."""

    name = "zbxhist-setup-runs"
    label = "zbxhist, runs"
    ingest = "runs"

    @classmethod
    def missing(cls, cluster):
        return super().missing(cluster) or missing_runs(cluster)

    catch_up = ZbxhistRuns.catch_up


class ZbxhistSetupRunsPreloaded(Preloaded, ZbxhistSetupRuns):
    """The same, with the library preloaded."""

    name = "zbxhist-setup-runs-preloaded"
    label = "zbxhist, runs, preloaded"
