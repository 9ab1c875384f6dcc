"""Inheritance with a PL/pgSQL trigger: the recipes from before PostgreSQL 10."""

from . import schema
from .postgres import PostgresStore

FUNCTION = """
CREATE FUNCTION {table}_route() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'INSERT INTO {table}_p' || to_char(to_timestamp(NEW.clock), 'YYYYMMDD')
        || ' SELECT ($1).*' USING NEW;
    RETURN NULL;
END
$$
"""


class Plpgsql(PostgresStore):
    """Routing by EXECUTE in its best form: partitions made in advance."""

    name = "plpgsql"
    label = "PL/pgSQL trigger"

    def create_table(self, table, periods):
        self.execute(schema.create_table(table))
        for period in periods:
            self.add_partition(table, period)
        self.execute(FUNCTION.format(table=table))
        self.execute(
            "CREATE TRIGGER route BEFORE INSERT ON {0} FOR EACH ROW "
            "EXECUTE FUNCTION {0}_route()".format(table)
        )

    def add_partition(self, table, period):
        """A child with its CHECK constraint and primary key."""
        self.execute(
            "CREATE TABLE {child} (CHECK (clock >= {start} AND clock < {stop}), "
            "PRIMARY KEY ({key})) INHERITS ({parent})".format(
                child=self.partition(table, period),
                start=period.start,
                stop=period.stop,
                key=schema.primary_key(table),
                parent=table,
            )
        )

    def check(self):
        return [
            problem
            for table in self.tables
            for problem in self.rows_outside(table, "ONLY " + table)
        ]
