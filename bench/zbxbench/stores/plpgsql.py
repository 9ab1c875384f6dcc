"""Inheritance with a PL/pgSQL trigger: the recipes from before version 10."""

from . import schema
from .postgres import PostgresStore

FUNCTION = """
CREATE FUNCTION {table}_route() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'INSERT INTO {table}_p' || to_char(to_timestamp(NEW.clock), '{pattern}')
        || ' SELECT ($1).*' USING NEW;
    RETURN NULL;
END
$$
"""

# zabbix.org's script, which many installations still run: it makes a missing
# partition on the way, and pays a subtransaction a row for that
FUNCTION_WIKI = """
CREATE FUNCTION {table}_route() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    tablename text := '{table}_p' || to_char(to_timestamp(NEW.clock), '{pattern}');
BEGIN
    EXECUTE 'INSERT INTO ' || quote_ident(tablename) || ' SELECT ($1).*' USING NEW;
    RETURN NULL;
EXCEPTION WHEN undefined_table THEN
    EXECUTE 'CREATE TABLE ' || quote_ident(tablename)
        || ' (LIKE {table} INCLUDING ALL) INHERITS ({table})';
    EXECUTE 'INSERT INTO ' || quote_ident(tablename) || ' SELECT ($1).*' USING NEW;
    RETURN NULL;
END
$$
"""


class Plpgsql(PostgresStore):
    """Routing by EXECUTE in the best form it has: partitions made beforehand."""

    name = "plpgsql"
    label = "PL/pgSQL trigger"
    function = FUNCTION

    def create_table(self, table, periods, interval):
        pattern = "YYYYMMDD" if interval == "daily" else "YYYYMM"
        self.execute(schema.create_table(table))
        for period in periods:
            self.add_partition(table, period)
        self.execute(self.function.format(table=table, pattern=pattern))
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

    def indexed_tables(self, table, periods):
        return [self.partition(table, period) for period in periods]

    def check(self):
        return [
            problem
            for table in self.tables
            for problem in self.rows_outside(table, "ONLY " + table)
        ]


class PlpgsqlWiki(Plpgsql):
    """The same with zabbix.org's EXCEPTION block."""

    name = "plpgsql-wiki"
    label = "PL/pgSQL trigger (zabbix.org)"
    function = FUNCTION_WIKI
