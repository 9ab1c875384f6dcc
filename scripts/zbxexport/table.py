"""The table that is exported: its columns, its days and its sums.

To compare what is stored with what was written, PostgreSQL and this program compute the same
sums: the number of rows, and for each column the number of nulls and a sum of its values.
Integers are summed as they are, doubles by their 64 bits, all others by the first 60 bits of
their MD5.
"""

import subprocess

from zbxreport import collect

DAY = 86400

# as in scripts/export: no functions outside pg_catalog are called
NAMED_SESSION = collect.SESSION.replace("-c search_path=pg_catalog ", "")

NAME = """
SELECT pg_catalog.to_jsonb(pg_catalog.format('%I.%I', n.nspname, k.relname))
  FROM pg_catalog.pg_class k
  JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) k.relnamespace
 WHERE k.oid OPERATOR(pg_catalog.=) {table}::pg_catalog.regclass
"""

COLUMNS = """
SELECT jsonb_agg(jsonb_build_object(
           'name', a.attname, 'sql', quote_ident(a.attname), 'type', t.typname,
           'precision', CASE WHEN t.typname = 'numeric' AND a.atttypmod >= 4 THEN (a.atttypmod - 4) >> 16 END,
           'scale', CASE WHEN t.typname = 'numeric' AND a.atttypmod >= 4 THEN (a.atttypmod - 4) & 2047 END)
           ORDER BY a.attnum)
  FROM pg_attribute a
  JOIN pg_type t ON t.oid = a.atttypid
 WHERE a.attrelid = {name}::regclass AND a.attnum > 0 AND NOT a.attisdropped
"""

RANGE = """
SELECT jsonb_build_array(ceil(extract(epoch FROM nullif({start}, '')::timestamptz))::bigint,
                         ceil(extract(epoch FROM nullif({end}, '')::timestamptz))::bigint)
"""

DAYS = """
SELECT jsonb_agg(d.day ORDER BY d.day)
  FROM (SELECT floor(h.clock / 86400::float8)::bigint AS day
          FROM {name} h WHERE {condition} GROUP BY 1) d
"""

ITEMS = """
SELECT jsonb_build_object('ids', coalesce(jsonb_agg(i.itemid ORDER BY i.itemid), '[]'),
                          'host', coalesce(jsonb_agg(o.host ORDER BY i.itemid), '[]'),
                          'item', coalesce(jsonb_agg(i.name ORDER BY i.itemid), '[]'))
  FROM {schema}.items i
  JOIN {schema}.hosts o ON o.hostid = i.hostid
"""

# types that are summed as numbers, by their bits, or by their bytes; all others by their
# text
INTEGERS = ("int2", "int4", "int8", "numeric")
KNOWN = INTEGERS + ("float8", "bytea")

LARGEST_UINT64 = 18446744073709551615


class Table:
    """A table of a database with the columns itemid and clock."""

    def __init__(self, database, table):
        named = collect.Database(database, NAMED_SESSION)
        self.database = collect.Database(database)
        self.name = named.ask(NAME.format(table=collect.quote(table)))
        self.columns = self.database.ask(COLUMNS.format(name=collect.quote(self.name)))
        present = [column["name"] for column in self.columns]
        if not {"itemid", "clock"} <= set(present):
            raise collect.ReportError(f"table {self.name} has no columns itemid and clock")
        self.order = ", ".join(name for name in ("itemid", "clock", "ns") if name in present)

    def range(self, start, end):
        """Two times as clocks, the first inclusive, the second exclusive; None is unbounded."""
        return self.database.ask(
            RANGE.format(start=collect.quote(start or ""), end=collect.quote(end or ""))
        )

    def days(self, start, end):
        """The UTC days, counted from 1970, that have rows in a range of clocks."""
        return self.database.ask(DAYS.format(name=self.name, condition=condition(start, end))) or []

    def items(self):
        """The names of hosts and items, in the order of their ids."""
        schema = self.name.rsplit(".", 1)[0] if self.name.count(".") == 1 else None
        if schema is None:
            raise collect.ReportError(f"table {self.name} is not in a schema of Zabbix")
        return self.database.ask(ITEMS.format(schema=schema))

    def sums(self, start, end):
        """The sums of a range of clocks, as text, and whether all narrow numerics fit
        uint64."""
        return self.database.ask(self.sums_query(start, end))

    def sums_query(self, start, end):
        """The query for these sums."""
        outside = [
            f"h.{c['sql']} NOT BETWEEN 0 AND {LARGEST_UINT64}" for c in self.columns if is_narrow(c)
        ]
        parts = [
            "'rows', count(*)::text",
            f"'fits', coalesce(bool_and(({' OR '.join(outside) or 'false'}) IS NOT TRUE), true)",
        ]
        for column in self.columns:
            parts.append(
                f"{collect.quote(column['name'])}, jsonb_build_array("
                f"(count(*) - count(h.{column['sql']}))::text, "
                f"coalesce(sum({digest(column)}), 0)::text)"
            )
        return (
            f"SELECT jsonb_build_object({', '.join(parts)})"
            f" FROM {self.name} h WHERE {condition(start, end)}"
        )

    def stream(self, start, end):
        """Starts psql, which prints a line with the sums of a range and its rows as CSV, from
        one snapshot."""
        names = ", ".join(
            f"h.{c['sql']}{'' if c['type'] in KNOWN else '::text'}" for c in self.columns
        )
        script = (
            "BEGIN ISOLATION LEVEL REPEATABLE READ;\n"
            "SET LOCAL extra_float_digits = 3;\nSET LOCAL bytea_output = 'hex';\n"
            f"{self.sums_query(start, end)};\n"
            f"COPY (SELECT {names} FROM {self.name} h WHERE {condition(start, end)}"
            f" ORDER BY {self.order}) TO STDOUT (FORMAT csv);\n"
        )
        psql = subprocess.Popen(
            self.database.psql + ["-X", "-q", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1", "-f", "-"],
            env=self.database.environment,
            cwd=self.database.directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with psql.stdin:
            psql.stdin.write(script.encode())
        return psql


def condition(start, end):
    """The condition on clock."""
    parts = [f"h.clock >= {start}"] if start is not None else []
    parts += [f"h.clock < {end}"] if end is not None else []
    return " AND ".join(parts) or "true"


def is_narrow(column):
    """Can a numeric be an unsigned integer of 64 bits, as in Zabbix's tables?"""
    return column["type"] == "numeric" and column["scale"] == 0 and column["precision"] <= 20


def digest(column):
    """The expression that is summed for a column."""
    name = f"h.{column['sql']}"
    if column["type"] in INTEGERS:
        return f"{name}::numeric"
    if column["type"] == "float8":
        # a NaN's text does not tell its bits
        return (
            f"CASE WHEN {name} <> 'NaN' THEN"
            f" ('x' || encode(float8send({name}), 'hex'))::bit(64)::bigint END::numeric"
        )
    text = name if column["type"] == "bytea" else f"{name}::text"
    return f"('x' || left(md5({text}), 15))::bit(60)::bigint::numeric"
