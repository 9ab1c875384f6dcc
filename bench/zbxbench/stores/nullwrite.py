"""The papers' Null Write: the upper bound of what a row trigger can reach."""

import shutil

from .. import environment
from ..cluster import SUPERUSER
from . import schema
from .postgres import PostgresStore


class NullWrite(PostgresStore):
    """A C trigger that skips every row: parse, plan and execute, store nothing."""

    name = "nullwrite"
    label = "Null Write"
    keeps_rows = False
    unreadable = "keeps no rows"
    ways = {}

    def prepare_database(self):
        library = self.cluster.directory / "nullwrite.so"
        source = environment.BENCH / "nullwrite"
        environment.build(source, "PG_CONFIG=" + str(self.cluster.bindir / "pg_config"))
        shutil.copyfile(source / "nullwrite.so", library)
        library.chmod(0o755)
        self.execute(
            "CREATE FUNCTION nullwrite_skip() RETURNS trigger LANGUAGE c AS "
            "'%s', 'nullwrite_skip'" % library,
            SUPERUSER,
        )

    def create_table(self, table, periods, interval):
        self.execute(schema.create_table(table))
        self.execute(
            "CREATE TRIGGER skip BEFORE INSERT ON %s FOR EACH ROW "
            "EXECUTE FUNCTION nullwrite_skip()" % table
        )

    def partition(self, table, period):
        return table
