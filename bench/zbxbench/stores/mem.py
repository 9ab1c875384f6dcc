"""The papers' Mem: the upper bound for what keeps its rows."""

from . import schema
from .postgres import PostgresStore


class Mem(PostgresStore):
    """An UNLOGGED table: no WAL, and empty after a crash."""

    name = "mem"
    label = "Mem (UNLOGGED)"

    def create_table(self, table, periods, interval):
        self.execute(schema.create_table(table).replace("CREATE TABLE", "CREATE UNLOGGED TABLE"))

    def partition(self, table, period):
        return table
