"""pg_partman over native partitions: the usual recipe for Zabbix."""

from ..cluster import OWNER, SUPERUSER
from . import schema
from .postgres import PostgresStore


class Partman(PostgresStore):
    """create_parent('native', epoch 'seconds'), as in published recipes for Zabbix.

    pg_partman adds a default partition, in which no rows must end up.
    """

    name = "partman"
    label = "pg_partman (native)"

    @classmethod
    def missing(cls, cluster):
        if not cluster.has_extension("pg_partman"):
            return "the package postgresql-<version>-partman is not installed"
        return None

    def prepare_database(self):
        self.execute(
            "CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman; "
            "GRANT ALL ON SCHEMA partman TO {0}; "
            "GRANT ALL ON ALL TABLES IN SCHEMA partman TO {0}; "
            "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA partman TO {0}; "
            "GRANT TEMPORARY ON DATABASE {1} TO {0}".format(OWNER, self.database),
            SUPERUSER,
        )

    def create_table(self, table, periods):
        self.execute(schema.create_table(table, "PARTITION BY RANGE (clock)"))
        self.execute(
            "SELECT partman.create_parent('public.%s', 'clock', 'native', 'daily', "
            "p_premake => 4, p_epoch => 'seconds', p_start_partition => '%s')"
            % (table, periods[0].date)
        )

    def partition(self, table, period):
        return self.execute(
            "SELECT partition_schema || '.' || partition_table FROM "
            "partman.show_partition_name('public.%s', '%s 00:00:00')" % (table, period.date)
        )[0][0]

    def maintain(self):
        for table in self.tables:
            self.execute("SELECT partman.run_maintenance('public.%s', false)" % table)

    def check(self):
        return [
            problem
            for table in self.tables
            for problem in self.rows_outside(table, table + "_default")
        ]
