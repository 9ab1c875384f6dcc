"""Asks a Zabbix database what it contains, and watches it for some minutes.

All reads are short read-only transactions: catalogs, counters, and values by the primary key.
No table of values is scanned.
"""

import random
import re
import time

from zbxreport import collect

from . import packed

DAY = 86400

HISTORY = ("history", "history_uint", "history_str", "history_log", "history_text")
TABLES = (*HISTORY, "history_bin", "history_json", "trends", "trends_uint")

# Zabbix's value types by table
VALUE_TYPES = {
    "history": 0,
    "history_str": 1,
    "history_log": 2,
    "history_uint": 3,
    "history_text": 4,
    "history_bin": 5,
    "history_json": 6,
    "trends": 0,
    "trends_uint": 3,
}

# days of a packed day: one UTC day of history, a month of trends
DAYS_PACKED = {"trends": 30, "trends_uint": 30}

# The sample of a table: at PLACES item ids the next ITEMS items, and of each the newest
# VALUES; SECONDS limits the time for all tables.
PLACES = 8
ITEMS = 40
VALUES = 60
SECONDS = 90

# of a text that are read
CHARACTERS = 2000

# no statement takes long, and no row security policy is evaluated
SESSION = (
    "-c statement_timeout=10s -c row_security=off -c max_parallel_workers_per_gather=0 -c jit=off"
)

SERVER = """
SELECT jsonb_build_object(
    'database', current_database(),
    'postgresql', current_setting('server_version'),
    'version', current_setting('server_version_num')::integer,
    'role', current_user,
    'in_recovery', pg_is_in_recovery(),
    'checkpoint_timeout', (SELECT s.setting::integer FROM pg_settings s WHERE s.name = 'checkpoint_timeout'),
    'database_bytes', pg_database_size(current_database()))
"""

SCHEMAS = """
SELECT jsonb_agg(DISTINCT n.nspname)
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'itemid'
 WHERE c.relname = 'history' AND c.relkind IN ('r', 'p') AND n.nspname NOT LIKE 'pg\\_%'
"""

# the tables and all that inherits from them: partitions, subpartitions, chunks
LEAVES = """
WITH RECURSIVE root AS (
    SELECT c.oid, c.relname
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = {schema} AND c.relname = ANY ({names}::text[]) AND c.relkind IN ('r', 'p')
       AND (SELECT count(*) FROM pg_attribute a
             WHERE a.attrelid = c.oid AND a.attname IN ('itemid', 'clock') AND NOT a.attisdropped) = 2),
leaf AS (
    SELECT r.relname, r.oid FROM root r
    UNION
    SELECT l.relname, i.inhrelid FROM leaf l JOIN pg_inherits i ON i.inhparent = l.oid)
"""

COUNTERS = (
    LEAVES
    + """
SELECT jsonb_build_object(
    'clock', extract(epoch FROM clock_timestamp()),
    'wal', pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'),
    'inserted', (SELECT coalesce(jsonb_agg(jsonb_build_array(l.relname, l.oid::bigint, pg_stat_get_tuples_inserted(l.oid))), '[]')
                   FROM leaf l))
"""
)

# rows as the planner estimates them, from the density at the last ANALYZE
SIZES = (
    LEAVES
    + """
SELECT jsonb_agg(jsonb_build_object(
           'table', l.relname, 'oid', c.oid::bigint, 'name', c.oid::regclass::text, 'kind', c.relkind::text,
           'heap_bytes', CASE WHEN c.relkind = 'r' THEN pg_table_size(c.oid) ELSE 0 END,
           'index_bytes', CASE WHEN c.relkind = 'r' THEN pg_indexes_size(c.oid) ELSE 0 END,
           'rows', CASE WHEN c.reltuples > 0 AND c.relpages > 0
                        THEN (c.reltuples / c.relpages * (pg_relation_size(c.oid) / current_setting('block_size')::integer))::bigint
                        ELSE pg_stat_get_live_tuples(c.oid) END,
           'dead', pg_stat_get_dead_tuples(c.oid),
           'width', (SELECT sum(s.avg_width) FROM pg_stats s JOIN pg_namespace n ON n.nspname = s.schemaname
                      WHERE n.oid = c.relnamespace AND s.tablename = c.relname AND NOT s.inherited)))
  FROM leaf l
  JOIN pg_class c ON c.oid = l.oid
"""
)

MANAGED = """
SELECT jsonb_agg(p.parent::text) FROM zbxhist.parents p
"""

# columns of a table, and whether an index finds an item's newest values
COLUMNS = """
SELECT jsonb_build_object(
    'columns', (SELECT jsonb_agg(jsonb_build_array(a.attname, t.typcategory::text) ORDER BY a.attnum)
                  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
                 WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped),
    'has_index', EXISTS (
        SELECT FROM pg_index i
          JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] AND a.attname = 'itemid'
          JOIN pg_attribute b ON b.attrelid = i.indrelid AND b.attnum = i.indkey[1] AND b.attname = 'clock'
         WHERE i.indrelid = {oid} AND i.indisvalid AND i.indpred IS NULL))
"""

# never scan a table of values
BY_INDEX = "SET enable_seqscan = off; SET enable_bitmapscan = off;"

ENDS = (
    BY_INDEX
    + "SELECT jsonb_build_array(min(v.itemid)::text, max(v.itemid)::text) FROM ONLY {relation} v"
)

# the newest values of the next items from a place on, by the index alone
VALUES_AT = (
    BY_INDEX
    + """
WITH RECURSIVE walk(itemid) AS (
    (SELECT v.itemid FROM ONLY {relation} v WHERE v.itemid >= {place} ORDER BY v.itemid LIMIT 1)
    UNION ALL
    SELECT (SELECT v.itemid FROM ONLY {relation} v WHERE v.itemid > w.itemid ORDER BY v.itemid LIMIT 1)
      FROM walk w WHERE w.itemid IS NOT NULL),
few AS MATERIALIZED (SELECT w.itemid FROM walk w WHERE w.itemid IS NOT NULL LIMIT {items})
SELECT coalesce(jsonb_agg(jsonb_build_array(few.itemid::text, v.row)), '[]')
  FROM few, LATERAL (SELECT jsonb_build_array({columns}) AS row FROM ONLY {relation} v
                      WHERE v.itemid = few.itemid ORDER BY v.clock DESC LIMIT {values}) v
"""
)

# items that are not templates', by value type
ITEM_COUNTS = """
SELECT jsonb_object_agg(c.value_type, c.items)
  FROM (SELECT i.value_type, count(*) AS items
          FROM {schema}.items i JOIN {schema}.hosts h ON h.hostid = i.hostid
         WHERE i.status = 0 AND h.status = 0 AND i.flags IN (0, 4) GROUP BY i.value_type) c
"""

# where Zabbix keeps its settings: 6.0 to 7.2, and since 7.4
SETTINGS_PLACE = """
SELECT jsonb_object_agg(c.relname, true)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = {schema} AND c.relkind = 'r'
   AND (c.relname = 'settings'
        OR c.relname = 'config' AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'hk_history'))
"""

CONFIG = """
SELECT jsonb_build_object('hk_history_global', c.hk_history_global, 'hk_history', c.hk_history,
                          'hk_trends_global', c.hk_trends_global, 'hk_trends', c.hk_trends)
  FROM {schema}.config c
"""

SETTINGS = """
SELECT jsonb_object_agg(s.name, coalesce(nullif(s.value_str, ''), s.value_int::text))
  FROM {schema}.settings s WHERE s.name LIKE 'hk\\_%'
"""

STATEMENTS_PLACE = """
SELECT jsonb_build_object('schema', n.nspname,
                          'time', (SELECT a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
                                    WHERE c.relnamespace = n.oid AND c.relname = 'pg_stat_statements'
                                      AND a.attname IN ('total_exec_time', 'total_time')))
  FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
 WHERE e.extname = 'pg_stat_statements'
"""

STATEMENTS = """
SELECT jsonb_agg(jsonb_build_array(s.query, s.calls, s.rows, s.ms))
  FROM (SELECT left(p.query, 200) AS query, sum(p.calls) AS calls, sum(p.rows) AS rows, sum(p.{time}) AS ms
          FROM {schema}.pg_stat_statements p
         WHERE p.dbid = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
           AND p.query ~* '^\\s*insert\\s+into\\s'
         GROUP BY 1) s
"""

# bytes per second that the server has written since its counters were reset
PAGES_BEFORE_17 = """
SELECT (b.buffers_checkpoint + b.buffers_clean + b.buffers_backend) * current_setting('block_size')::numeric
       / greatest(extract(epoch FROM now() - b.stats_reset)::numeric, 1)
  FROM pg_stat_bgwriter b
"""
PAGES_SINCE_17 = """
SELECT ((c.buffers_written + b.buffers_clean) * current_setting('block_size')::numeric
        / greatest(extract(epoch FROM now() - c.stats_reset)::numeric, 1))
       + (SELECT coalesce(sum(coalesce((j.io->>'write_bytes')::numeric, (j.io->>'writes')::numeric * (j.io->>'op_bytes')::numeric)
                              / greatest(extract(epoch FROM now() - (j.io->>'stats_reset')::timestamptz)::numeric, 1)), 0)
            FROM (SELECT to_jsonb(i) AS io FROM pg_stat_io i
                   WHERE i.object = 'relation' AND i.backend_type NOT IN ('checkpointer', 'background writer')) j)
  FROM pg_stat_checkpointer c, pg_stat_bgwriter b
"""
WAL_RATE = """
SELECT w.wal_bytes / greatest(extract(epoch FROM now() - w.stats_reset)::numeric, 1) FROM pg_stat_wal w
"""

# compressed chunks, which do not inherit from the hypertable's chunks
COMPRESSED = """
SELECT jsonb_object_agg(h.table_name, jsonb_build_object('bytes', h.bytes, 'rows', h.rows))
  FROM (SELECT h.table_name, sum(s.compressed_heap_size + s.compressed_toast_size + s.compressed_index_size) AS bytes,
               sum(s.numrows_pre_compression) AS rows
          FROM _timescaledb_catalog.hypertable h
          JOIN _timescaledb_catalog.chunk c ON c.hypertable_id = h.id
          JOIN _timescaledb_catalog.compression_chunk_size s ON s.chunk_id = c.id
         WHERE h.schema_name = {schema} GROUP BY h.table_name) h
"""

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": DAY, "w": 7 * DAY}


def identifier(name):
    """Quotes an identifier."""
    return '"' + name.replace('"', '""') + '"'


def array(names):
    """Returns an SQL array of texts."""
    return f"ARRAY[{', '.join(collect.quote(name) for name in names)}]"


def exists(database, relation):
    """Does a relation of this name exist?"""
    return database.ask(f"SELECT (to_regclass({collect.quote(relation)}) IS NOT NULL)::text::jsonb")


def seconds_of(text):
    """Parses a storage period as Zabbix writes it, such as 31d."""
    match = re.fullmatch(r"(\d+)([smhdw]?)", text or "")
    return int(match.group(1)) * UNITS[match.group(2)] if match else None


def schema_of(database, wanted):
    """Finds the schema of Zabbix's tables."""
    schemas = database.ask(SCHEMAS) or []
    if wanted is not None:
        if wanted not in schemas:
            raise collect.ReportError(f'schema "{wanted}" has no table history of Zabbix')
        return wanted
    if not schemas:
        raise collect.ReportError("there is no table history of Zabbix in this database")
    if len(schemas) > 1:
        raise collect.ReportError(
            f"several schemas have a table history: {', '.join(schemas)}",
            "repeat with --schema and the name of one of them",
        )
    return schemas[0]


def server_of(database):
    """Asks about the server, which must not be a standby."""
    server = database.ask(SERVER)
    if server["in_recovery"]:
        raise collect.ReportError(
            "the server is a standby, which does not count what is inserted",
            "ask the primary server",
        )
    if exists(database, "zbxhist.parents") and database.ask(MANAGED):
        raise collect.ReportError(
            "the tables of this database are managed by zbxhist already",
            f"scripts/report --database {collect.shell(database.name)}",
        )
    return server


class Statements:
    """What pg_stat_statements has counted of INSERTs."""

    def __init__(self, database):
        self.database = database
        self.sql = None
        place = database.section("pg_stat_statements", STATEMENTS_PLACE, None)
        if place and place["time"]:
            self.sql = STATEMENTS.format(schema=identifier(place["schema"]), time=place["time"])

    def look(self):
        """Calls, rows and milliseconds by table; {} if they are not available."""
        if self.sql is None:
            return {}
        found = {}
        for query, calls, rows, milliseconds in self.database.section(
            "pg_stat_statements", self.sql, []
        ):
            match = re.match(r'\s*insert\s+into\s+(?:"?[^\s"(.]+"?\.)?"?([^\s"(.]+)', query, re.I)
            if match:
                sums = found.setdefault(match.group(1).lower(), [0, 0, 0.0])
                for i, number in enumerate((calls, rows, milliseconds)):
                    sums[i] += number
        return found


def difference(before, after, table):
    """A table's statements while it was watched, or else since they have been counted."""
    last = after.get(table)
    if last is None:
        return None
    first = before.get(table, [0, 0, 0.0])
    spent = [b - a for a, b in zip(first, last)]
    calls, rows, milliseconds = spent if spent[0] > 0 and spent[1] > 0 else last
    if calls <= 0 or rows <= 0:
        return None
    return {
        "calls": calls,
        "rows_per_statement": round(rows / calls, 2),
        "us_per_value": round(1000 * milliseconds / rows, 2),
    }


def retention_of(database, schema):
    """Seconds that Zabbix keeps history and trends for, where its override is on."""
    place = database.section(
        "Zabbix's settings", SETTINGS_PLACE.format(schema=collect.quote(schema)), None
    )
    if not place:
        return {}
    query = CONFIG if "config" in place else SETTINGS
    found = database.section("Zabbix's settings", query.format(schema=identifier(schema)), {})
    return {
        what: seconds_of(found.get(f"hk_{what}"))
        for what in ("history", "trends")
        if str(found.get(f"hk_{what}_global")) == "1"
    }


def expression(column, kind):
    """The expression that reads a column as number or text; doubles with all digits."""
    name = f"v.{identifier(column)}"
    if kind == "N":
        return f"{name}::text"
    return f"jsonb_build_array(left({name}::text, {CHARACTERS}), octet_length({name}::text))"


def values_of(database, relation, oid, deadline):
    """Returns rows of some items [itemid, clock, ns, column, ...] and the kinds of their
    columns.  Fails if no index finds them."""
    found = database.ask(COLUMNS.format(oid=oid))
    if not found["has_index"]:
        raise collect.ReportError(f"{relation} has no index that begins with itemid and clock")
    columns = found["columns"]
    has_ns = any(name == "ns" for name, _ in columns)
    others = [(n, kind) for n, kind in columns if n not in ("itemid", "clock", "ns")]
    # the column value first
    others.sort(key=lambda column: column[0] != "value")
    wanted = ["v.clock", "v.ns" if has_ns else "0"] + [expression(n, kind) for n, kind in others]
    first, last = database.ask(ENDS.format(relation=relation)) or (None, None)
    rows = {}
    if first is None:
        return [], []
    for place in places(int(first), int(last)):
        if time.monotonic() > deadline:
            break
        sql = VALUES_AT.format(
            relation=relation,
            place=place,
            items=ITEMS,
            values=VALUES,
            columns=", ".join(wanted),
        )
        for itemid, row in database.ask(sql):
            rows[(itemid, *row[:2])] = [itemid, *row]
    return list(rows.values()), ["number" if kind == "N" else "text" for _, kind in others]


def places(first, last):
    """Random item ids to begin at, and the least one."""
    chosen = [first + random.randrange(last - first + 1) for _ in range(PLACES - 1)]
    return sorted({first, *chosen})


def sampled(database, table, leaves, deadline):
    """Describes the values of a table; None if there is no sample."""
    leaf = max(
        (leaf for leaf in leaves if leaf["kind"] == "r"),
        key=lambda leaf: (leaf["inserted"], leaf["rows"] > 0, leaf["oid"]),
        default=None,
    )
    if leaf is None or time.monotonic() > deadline:
        return None
    try:
        rows, kinds = values_of(database, leaf["name"], leaf["oid"], deadline)
    except collect.ReportError as error:
        database.unreadable[f"values of {table}"] = str(error)
        return None
    return packed.describe(rows, kinds, DAYS_PACKED.get(table, 1))


def bloat_of(leaves, rows):
    """The share of the rows' pages that is dead or empty, roughly: what the rows at their
    average width do not need.  None if nobody has run ANALYZE."""
    known = [leaf for leaf in leaves if leaf["width"] and leaf["rows"] and leaf["heap_bytes"]]
    needed = sum(leaf["rows"] * (28 + (leaf["width"] + 7) // 8 * 8) for leaf in known)
    there = sum(leaf["heap_bytes"] for leaf in known)
    return round(max(0.0, 1 - needed / there), 3) if there and rows else None


class Watch:
    """Looks at a database twice."""

    def __init__(self, database, schema):
        self.database = database
        self.schema = collect.quote(schema)
        self.names = array(TABLES)
        self.statements = Statements(database)

    def ask(self, sql):
        """Runs a query about the tables."""
        return self.database.ask(sql.format(schema=self.schema, names=self.names))

    def look(self):
        """Reads the counters."""
        return self.ask(COUNTERS), self.statements.look()

    def rates(self, name, query):
        """Bytes per second of the whole server since its counters were reset."""
        rate = self.database.section(name, query, None)
        return None if rate is None else round(float(rate), 1)

    def server_rates(self, server, before, after):
        """What the server writes, whatever the cause."""
        seconds = max(after["clock"] - before["clock"], 0.001)
        version = server["version"]
        return {
            "wal_per_second": round((after["wal"] - before["wal"]) / seconds, 1),
            "wal_per_second_long": self.rates("WAL", WAL_RATE) if version >= 140000 else None,
            "pages_per_second_long": self.rates(
                "pages", PAGES_SINCE_17 if version >= 170000 else PAGES_BEFORE_17
            ),
        }

    def compressed(self):
        """Bytes and rows of compressed chunks by hypertable."""
        if not exists(self.database, "_timescaledb_catalog.compression_chunk_size"):
            return {}
        return self.database.section("compressed chunks", COMPRESSED.format(schema=self.schema), {})


def inserted_between(before, after):
    """Rows inserted between the two looks, by table and part."""
    first = {oid: number for _, oid, number in before["inserted"]}
    return {oid: max(0, n - first.get(oid, 0)) for _, oid, n in after["inserted"]}


def table_of(name, leaves, seconds, extra):
    """Describes a table by the sizes and counters of its parts."""
    chunks = extra["compressed"].get(name, {"bytes": 0, "rows": 0})
    rows = sum(leaf["rows"] for leaf in leaves) + int(chunks["rows"] or 0)
    heap = sum(leaf["heap_bytes"] for leaf in leaves)
    index = sum(leaf["index_bytes"] for leaf in leaves)
    compressed = int(chunks["bytes"] or 0)
    statements = difference(*extra["statements"], name)
    kind = "trends" if name.startswith("trends") else "history"
    return {
        "table": name,
        "kind": kind,
        "parts": sum(leaf["kind"] == "r" for leaf in leaves),
        "values_per_second": round(sum(leaf["inserted"] for leaf in leaves) / seconds, 3),
        "inserted": sum(leaf["inserted"] for leaf in leaves),
        "items": extra["items"].get(str(VALUE_TYPES[name])),
        "rows": rows,
        "heap_bytes": heap,
        "index_bytes": index,
        "compressed_bytes": compressed,
        "bytes": heap + index + compressed,
        "bytes_per_value": round((heap + index + compressed) / rows, 2) if rows else None,
        "uncompressed_bytes_per_value": uncompressed(leaves),
        "dead": sum(leaf["dead"] for leaf in leaves),
        "bloat": bloat_of(leaves, rows),
        "statements": statements,
        "retention": extra["retention"].get(kind),
    }


def uncompressed(leaves):
    """Bytes per row outside TimescaleDB's compressed chunks."""
    rows = sum(leaf["rows"] for leaf in leaves)
    size = sum(leaf["heap_bytes"] + leaf["index_bytes"] for leaf in leaves if leaf["rows"])
    return round(size / rows, 2) if rows else None


def watch(database, wanted_schema, seconds):
    """Looks, waits that many seconds, looks again, and returns everything."""
    server = server_of(database)
    schema = schema_of(database, wanted_schema)
    look = Watch(database, schema)
    before, first = look.look()
    time.sleep(seconds)
    after, last = look.look()
    inserted = inserted_between(before, after)
    passed = max(after["clock"] - before["clock"], 0.001)
    extra = {
        "statements": (first, last),
        "items": database.section("items", ITEM_COUNTS.format(schema=identifier(schema)), {}),
        "retention": retention_of(database, schema),
        "compressed": look.compressed(),
    }
    sizes = look.ask(SIZES) or []
    for leaf in sizes:
        leaf["inserted"] = inserted.get(leaf["oid"], 0)
    deadline = time.monotonic() + SECONDS
    tables = []
    for name in TABLES:
        leaves = [leaf for leaf in sizes if leaf["table"] == name]
        if leaves:
            table = table_of(name, leaves, passed, extra)
            table["sample"] = sampled(database, name, leaves, deadline)
            tables.append(table)
    server.update(look.server_rates(server, before, after))
    return {
        "time": int(after["clock"]),
        "seconds": round(passed, 3),
        "schema": schema,
        "server": server,
        "tables": tables,
    }
