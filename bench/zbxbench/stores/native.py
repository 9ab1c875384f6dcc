"""PostgreSQL's declarative partitions, made by hand."""

from . import schema
from .postgres import PostgresStore


class Native(PostgresStore):
    """PARTITION BY RANGE (clock) without a default partition: the simplest form."""

    name = "native"
    label = "native partitions"

    def create_table(self, table, periods):
        self.execute(schema.create_table(table, "PARTITION BY RANGE (clock)"))
        for period in periods:
            self.add_partition(table, period)

    def add_partition(self, table, period):
        """What a maintenance script does for a new day."""
        self.execute(
            "CREATE TABLE %s PARTITION OF %s FOR VALUES FROM (%d) TO (%d)"
            % (self.partition(table, period), table, period.start, period.stop)
        )
