"""The extension: as installed, by the trigger alone, row by row, packed."""

from ..cluster import SUPERUSER
from . import schema
from .postgres import PostgresStore


class Zbxhist(PostgresStore):
    """As installed: literals skip planner and trigger, rows are inserted in batches."""

    name = "zbxhist"
    label = "zbxhist"

    @classmethod
    def missing(cls, cluster):
        if not cluster.has_extension("zbxhist"):
            return "the extension is not installed: make install"
        return None

    def prepare_database(self):
        self.execute("CREATE EXTENSION zbxhist")
        # as setup() sets it; otherwise a session that only reads would not load the library
        self.execute(
            "ALTER DATABASE %s SET session_preload_libraries = 'zbxhist'" % self.database, SUPERUSER
        )

    def create_table(self, table, periods):
        self.execute(schema.create_table(table))
        self.execute("SELECT zbxhist.create_parent('%s', '1 day')" % table)
        for period in periods:
            self.partition(table, period)

    def partition(self, table, period):
        return self.execute(
            "SELECT zbxhist.create_partition('%s', '%s')::text" % (table, period.date)
        )[0][0]

    def check(self):
        return [
            problem
            for table in self.tables
            for problem in self.rows_outside(table, "ONLY " + table)
        ]


class ZbxhistPacked(Zbxhist):
    """Days are packed when they are over."""

    name = "zbxhist-packed"
    label = "zbxhist, packed days"

    def close_period(self, table, period):
        self.execute("CALL zbxhist.pack('%s', '%s')" % (table, period.date))


class ZbxhistRounded(ZbxhistPacked):
    """Packed days with rounded times, which the policy rounds after a week."""

    name = "zbxhist-packed-ms"
    label = "zbxhist, packed, times to 1 ms"
    is_exact = False
    precision = "1 ms"

    def create_table(self, table, periods):
        super().create_table(table, periods)
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
    """The same, rounded to a second."""

    name = "zbxhist-packed-s"
    label = "zbxhist, packed, times to 1 s"
    precision = "1 s"


class ZbxhistTrigger(Zbxhist):
    """Every row goes through the C trigger, and is inserted in a batch."""

    name = "zbxhist-trigger"
    label = "zbxhist, batch trigger"
    options = "-c zbxhist.enable_fast_insert=off"


class ZbxhistRows(Zbxhist):
    """The same trigger, with a heap_insert per row."""

    name = "zbxhist-rows"
    label = "zbxhist, row at a time"
    options = "-c zbxhist.enable_batching=off"


class ZbxhistByDay(Zbxhist):
    """A policy of its own: maintenance creates partitions and packs them."""

    name = "zbxhist-day"
    label = "zbxhist, by day"
    partition_interval = "1 day"
    pack_after = "1 day"

    def create_table(self, table, periods):
        del periods
        self.execute(schema.create_table(table))
        self.execute(
            "SELECT zbxhist.create_parent('%s', '%s', pack_after => '%s')"
            % (table, self.partition_interval, self.pack_after)
        )


class ZbxhistByHour(ZbxhistByDay):
    """Hours, packed an hour after their end; those of a day become one packed day."""

    name = "zbxhist-hour-compacted"
    label = "zbxhist, by hour, compacted"
    partition_interval = "1 hour"
    pack_after = "1 hour"

    def close_period(self, table, period):
        self.execute("CALL zbxhist.compact('%s', '%s')" % (table, period.date))


class ZbxhistSetup(Zbxhist):
    """Zabbix's tables after setup(), with maintenance by a timer."""

    name = "zbxhist-setup"
    label = "zbxhist, as set up"

    def create_table(self, table, periods):
        del periods
        self.execute(schema.create_table(table))

    def create(self, tables, periods):
        super().create(tables, periods)
        self.execute("SELECT * FROM zbxhist.setup()")

    def maintain(self):
        self.execute("CALL zbxhist.run_maintenance()")

    def fill(self, table, stream):
        """Rows are written into packed days directly."""
        self.execute("CREATE TABLE before (LIKE %s INCLUDING DEFAULTS)" % table)
        self.execute("CREATE INDEX ON before USING brin (clock)")
        self.copy_from("before", stream)
        self.execute("CREATE EXTENSION IF NOT EXISTS zbxhist_migrate")
        self.execute("CALL zbxhist.import('before', '%s')" % table)
        self.execute("DROP TABLE before")
        # rows too young to be packed must not stay in the table; the documentation moves
        # them, too
        self.execute("SELECT zbxhist.alter_parent('%s', move_existing => true)" % table)

    def check(self):
        return []
