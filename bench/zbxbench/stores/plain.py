"""A plain table: Zabbix as installed."""

from . import schema
from .postgres import PostgresStore


class Plain(PostgresStore):
    """Zabbix's schema only."""

    name = "plain"
    label = "plain table"

    def create_table(self, table, periods):
        self.execute(schema.create_table(table))

    def partition(self, table, period):
        return table
