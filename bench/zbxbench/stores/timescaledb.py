"""TimescaleDB, set up as by Zabbix's script."""

from .. import counters
from ..cluster import SUPERUSER
from ..periods import DAY
from . import schema
from .postgres import PostgresStore

# the length of a chunk, and the age at which it is compressed
CHUNK = {"history": DAY, "trends": 30 * DAY}
COMPRESSED_AFTER = 7 * DAY


class Timescale(PostgresStore):
    """Hypertables in a cluster of their own, because the library must be loaded when the server
    starts."""

    name = "timescaledb"
    label = "TimescaleDB"

    def __init__(self, cluster, suffix=""):
        super().__init__(
            cluster.twin(
                **{
                    "shared_preload_libraries": "timescaledb",
                    "timescaledb.telemetry_level": "off",
                }
            ),
            suffix,
        )
        self.own_wal = None

    @classmethod
    def missing(cls, cluster):
        if not cluster.has_extension(cls.name):
            return "the extension is not installed"
        return None

    def wal_counter(self, wal):
        del wal
        if self.own_wal is None:
            self.own_wal = counters.Wal(self.cluster)
        return self.own_wal

    def prepare_database(self):
        self.execute("CREATE EXTENSION timescaledb", SUPERUSER)
        self.execute(
            "CREATE FUNCTION zbx_ts_unix_now() RETURNS integer LANGUAGE sql STABLE AS "
            "'SELECT extract(epoch FROM now())::integer'"
        )

    def create_table(self, table, periods):
        del periods
        self.execute(schema.create_table(table))
        self.execute(
            "SELECT create_hypertable('{0}', 'clock', chunk_time_interval => {1}); "
            "SELECT set_integer_now_func('{0}', 'zbx_ts_unix_now', true); "
            "ALTER TABLE {0} SET (timescaledb.compress, timescaledb.compress_segmentby = 'itemid', "
            "timescaledb.compress_orderby = '{2}'); "
            "SELECT add_compression_policy('{0}', integer '{3}')".format(
                table,
                CHUNK[table.split("_", 1)[0]],
                "clock" if table.startswith("trends") else "clock,ns",
                COMPRESSED_AFTER,
            )
        )

    def partition(self, table, period):
        return table

    def maintain(self):
        """Runs the jobs of the policies, as TimescaleDB's own timer does."""
        for job in self.execute(
            "SELECT job_id FROM timescaledb_information.jobs WHERE proc_name = 'policy_compression'"
        ):
            self.execute("CALL run_job(%d)" % job)

    def close_period(self, table, period):
        self.execute(
            "SELECT compress_chunk(c, true) FROM show_chunks('%s', %d, %d) c"
            % (table, period.stop, period.start)
        )
