"""Asks a Zabbix database what there is and what happens in it, for some minutes.

Everything is read in read-only transactions of little time each: catalogs,
counters, and values by the primary key.  No table of values is scanned.
"""

import random
import re
import time

from zbxreport import collect

from . import packed

DAY = 86400

HISTORY = ("history", "history_uint", "history_str", "history_log", "history_text")
TABLES = (*HISTORY, "history_bin", "history_json", "trends", "trends_uint")

# Zabbix's types of values, by the table that they go to
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

# a packed day is a UTC day of history, a month of trends
DAYS_PACKED = {"trends": 30, "trends_uint": 30}

# how many values are looked at: at so many places of a table so many items, of
# each the newest values; and for how long at most, for all tables
PLACES = 8
ITEMS = 40
VALUES = 60
SECONDS = 90

# of a text
CHARACTERS = 2000

# no statement takes long, nobody's policy is run
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

# the tables, with all that inherits from them: partitions, partitions of these, chunks
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
    'log', pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'),
    'inserted', (SELECT coalesce(jsonb_agg(jsonb_build_array(l.relname, l.oid::bigint, pg_stat_get_tuples_inserted(l.oid))), '[]')
                   FROM leaf l))
"""
)

# rows as the planner has them: as dense as when somebody last analyzed
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

# columns of a table, and whether an index leads to an item's newest values
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

# no table of values is scanned
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

# items that Zabbix asks, by the type of their values; those of templates are none
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

# what the whole server has written since its counters were reset, bytes a second
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
LOG_RATE = """
SELECT w.wal_bytes / greatest(extract(epoch FROM now() - w.stats_reset)::numeric, 1) FROM pg_stat_wal w
"""

# compressed chunks, which inherit nothing from the hypertable's
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
    """A name in SQL, whatever it is."""
    return '"' + name.replace('"', '""') + '"'


def array(names):
    """An array of texts in SQL."""
    return f"ARRAY[{', '.join(collect.quote(name) for name in names)}]"


def exists(database, relation):
    """Is there a relation of this name?"""
    return database.ask(f"SELECT (to_regclass({collect.quote(relation)}) IS NOT NULL)::text::jsonb")


def seconds_of(text):
    """A storage period as Zabbix writes it, such as 31d."""
    match = re.fullmatch(r"(\d+)([smhdw]?)", text or "")
    return int(match.group(1)) * UNITS[match.group(2)] if match else None


def schema_of(database, wanted):
    """The schema with Zabbix's tables."""
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
    """The server, which must be one that values are inserted into."""
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
    """What pg_stat_statements knows of INSERTs."""

    def __init__(self, database):
        self.database = database
        self.sql = None
        place = database.section("pg_stat_statements", STATEMENTS_PLACE, None)
        if place and place["time"]:
            self.sql = STATEMENTS.format(schema=identifier(place["schema"]), time=place["time"])

    def look(self):
        """Calls, rows and milliseconds by table; {} if they are not to be had."""
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
    """A table's statements while they were watched, or else since they were counted."""
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
    """Seconds that Zabbix keeps history and trends for, if its override says so."""
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
    """A column as numbers or texts are read: doubles with all their digits."""
    name = f"v.{identifier(column)}"
    if kind == "N":
        return f"{name}::text"
    return f"jsonb_build_array(left({name}::text, {CHARACTERS}), octet_length({name}::text))"


def values_of(database, relation, oid, deadline):
    """Rows of some items [itemid, clock, ns, column, ...] and what their columns are;
    None where no index leads to them."""
    found = database.ask(COLUMNS.format(oid=oid))
    if not found["has_index"]:
        raise collect.ReportError(f"{relation} has no index that begins with itemid and clock")
    columns = found["columns"]
    has_ns = any(name == "ns" for name, _ in columns)
    others = [(n, kind) for n, kind in columns if n not in ("itemid", "clock", "ns")]
    # the values themselves before what is beside them
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
    """Item ids to begin at, the least of all among them."""
    chosen = [first + random.randrange(last - first + 1) for _ in range(PLACES - 1)]
    return sorted({first, *chosen})


def sampled(database, table, leaves, deadline):
    """What the values of a table are like; None if that cannot be told."""
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
    """Which share of the rows' pages is dead or empty, roughly: what is beyond the
    rows at their average width; None where nobody has analyzed."""
    known = [leaf for leaf in leaves if leaf["width"] and leaf["rows"] and leaf["heap_bytes"]]
    needed = sum(leaf["rows"] * (28 + (leaf["width"] + 7) // 8 * 8) for leaf in known)
    there = sum(leaf["heap_bytes"] for leaf in known)
    return round(max(0.0, 1 - needed / there), 3) if there and rows else None


class Watch:
    """A database that is looked at twice."""

    def __init__(self, database, schema):
        self.database = database
        self.schema = collect.quote(schema)
        self.names = array(TABLES)
        self.statements = Statements(database)

    def ask(self, sql):
        """A query about the tables."""
        return self.database.ask(sql.format(schema=self.schema, names=self.names))

    def look(self):
        """The counters of this moment."""
        return self.ask(COUNTERS), self.statements.look()

    def rates(self, name, query):
        """Bytes a second of the whole server since its counters were reset."""
        rate = self.database.section(name, query, None)
        return None if rate is None else round(float(rate), 1)

    def server_rates(self, server, before, after):
        """What the server writes, whoever lets it."""
        seconds = max(after["clock"] - before["clock"], 0.001)
        version = server["version"]
        return {
            "log_per_second": round((after["log"] - before["log"]) / seconds, 1),
            "log_per_second_long": self.rates("WAL", LOG_RATE) if version >= 140000 else None,
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
    """Rows that were inserted meanwhile, by table and part."""
    first = {oid: number for _, oid, number in before["inserted"]}
    return {oid: max(0, n - first.get(oid, 0)) for _, oid, n in after["inserted"]}


def table_of(name, leaves, seconds, extra):
    """What is known of a table from its parts' sizes and counters."""
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
    """Bytes of a row that is in none of TimescaleDB's compressed chunks."""
    rows = sum(leaf["rows"] for leaf in leaves)
    size = sum(leaf["heap_bytes"] + leaf["index_bytes"] for leaf in leaves if leaf["rows"])
    return round(size / rows, 2) if rows else None


def watch(database, wanted_schema, seconds):
    """Everything that there is to know, after so many seconds."""
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
