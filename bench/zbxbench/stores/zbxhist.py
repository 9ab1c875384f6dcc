"""The extension: as installed, by the trigger alone, and row at a time."""
from . import schema
from .postgres import PostgresStore


class Zbxhist(PostgresStore):
    """As installed: literals planned without planner and trigger, rows multi-inserted."""
    name = "zbxhist"
    label = "zbxhist"

    @classmethod
    def missing(cls, cluster):
        if not cluster.has_extension("zbxhist"):
            return "the extension is not installed: make install"
        return None

    def prepare_database(self):
        self.execute("CREATE EXTENSION zbxhist")

    def create_table(self, table, periods, interval):
        width = "1 day" if interval == "daily" else "1 month"
        self.execute(schema.create_table(table))
        self.execute("SELECT zbxhist.create_parent('%s', '%s')" % (table, width))
        for period in periods:
            self.partition(table, period)

    def partition(self, table, period):
        return self.execute("SELECT zbxhist.create_partition('%s', '%s')::text"
                            % (table, period.date))[0][0]

    def check(self):
        return [problem for table in self.tables
                for problem in self.rows_outside(table, "ONLY " + table)]


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
