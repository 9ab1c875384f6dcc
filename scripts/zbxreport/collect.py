"""Asks a database for all data of a report.

Each section has its own query.  If a role may not see something, or a table is locked, only that
section is missing.
"""

import json
import os
import re
import subprocess

from . import forecast

# version of the JSON document; it changes only if names change or go
FORMAT = 1

DAY = 86400

# only operators and functions of pg_catalog, and nothing is changed
SESSION = (
    "-c search_path=pg_catalog -c default_transaction_read_only=on -c lock_timeout=10s"
    " -c client_min_messages=error -c timezone=UTC -c datestyle=iso -c application_name=zbxhist-report"
)

SERVER = """
SELECT jsonb_build_object(
    'database', current_database(),
    'postgresql', current_setting('server_version'),
    'zbxhist', (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'zbxhist'),
    'database_bytes', pg_database_size(current_database()),
    'role', current_user,
    'in_recovery', pg_is_in_recovery())
"""

TABLES = """
SELECT jsonb_agg(jsonb_build_object(
           'table', p.parent::text,
           'interval', extract(epoch FROM p.partition_interval)::bigint,
           'months', extract(year FROM p.partition_interval)::integer * 12
                     + extract(month FROM p.partition_interval)::integer,
           'retention', extract(epoch FROM p.effective_retention)::bigint,
           'retention_source', p.retention_source,
           'detach', p.retention_action = 'detach',
           'retention_schema', p.retention_schema,
           'pack_after', extract(epoch FROM p.pack_after)::bigint,
           'time_precision', nullif(p.time_precision, '1 ns'),
           'time_precision_after', extract(epoch FROM p.time_precision_after)::bigint,
           'archive_after', CASE WHEN p.archive_server IS NOT NULL THEN extract(epoch FROM p.archive_after)::bigint END,
           'premake', p.premake,
           'is_undone', NOT p.routing,
           'partitions', s.partitions,
           'partitions_ahead', s.partitions_ahead,
           'covered_until', extract(epoch FROM s.covered_until)::bigint,
           'packed_days', s.packed_days,
           'saved_bytes', s.saved_bytes,
           'rows_waiting', s.rows_waiting,
           'rows_waiting_exact', s.rows_waiting_exact,
           'parent_bytes', pg_total_relation_size(p.parent),
           'last_success', extract(epoch FROM s.last_success)::bigint,
           'last_error', s.last_error,
           'last_error_at', extract(epoch FROM s.last_error_at)::bigint,
           'next_drop', extract(epoch FROM s.next_drop)::bigint) ORDER BY p.parent::text)
  FROM zbxhist.parents p
  JOIN zbxhist.status s ON s.parent = p.parent
"""

PARTITIONS = """
SELECT jsonb_agg(jsonb_build_array(p.parent::text, p.kind, p.state, p.from_clock, p.to_clock,
                                   p.rows, p.bytes, d.heap_bytes, a.bytes) ORDER BY p.from_clock)
  FROM zbxhist.partitions p
  LEFT JOIN zbxhist.packed_day d ON d.day = p.partition
  LEFT JOIN zbxhist.archive_copy a ON a.copy = d.archive_copy
 WHERE p.state <> 'future'
"""

CHECK = """
SELECT jsonb_agg(to_jsonb(c)) FROM zbxhist.check() c
"""

# all items of the range, because the sums of hosts need them
USAGE = """
WITH u AS MATERIALIZED (
    SELECT * FROM zbxhist.item_usage({table}::regclass, {since}, max_items => NULL)),
largest AS (SELECT * FROM u ORDER BY u.bytes DESC, u.itemid LIMIT 15),
host AS (
    SELECT u.host, count(*) AS items, sum(u.values) AS "values", sum(u.bytes) AS bytes, sum(u.percent) AS percent
      FROM u WHERE u.host IS NOT NULL
     GROUP BY u.host ORDER BY sum(u.bytes) DESC, u.host LIMIT 10)
SELECT jsonb_build_object(
           'items', (SELECT coalesce(jsonb_agg(to_jsonb(l) ORDER BY l.bytes DESC, l.itemid), '[]') FROM largest l),
           'hosts', (SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.bytes DESC, h.host), '[]') FROM host h),
           'total_items', (SELECT count(*) FROM u),
           'total_values', (SELECT coalesce(sum(u.values), 0) FROM u),
           'total_bytes', (SELECT coalesce(sum(u.bytes), 0) FROM u))
"""

MAINTENANCE = """
SELECT jsonb_build_object(
    'actions', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.seconds DESC, a.action), '[]')
                  FROM (SELECT l.action, count(*) AS times, count(l.sqlstate) AS failed, sum(l.rows)::bigint AS rows,
                               sum(l.bytes)::bigint AS bytes_freed, round(sum(extract(epoch FROM l.duration)), 1) AS seconds,
                               round(max(extract(epoch FROM l.duration)), 1) AS longest,
                               round(max(extract(epoch FROM l.lock_wait)), 2) AS longest_lock_wait
                          FROM zbxhist.maintenance_log l GROUP BY l.action) a),
    'days', (SELECT coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.day), '[]')
               FROM (SELECT extract(epoch FROM date_trunc('day', l.started_at, 'UTC'))::bigint AS day,
                            round(sum(extract(epoch FROM l.duration)), 1) AS seconds, count(l.sqlstate) AS failed
                       FROM zbxhist.maintenance_log l GROUP BY 1) d),
    'problems', (SELECT coalesce(jsonb_agg(to_jsonb(p) ORDER BY p.last DESC), '[]')
                   FROM (SELECT l.parent::text AS "table", l.action, l.sqlstate, l.message, count(*) AS times,
                                extract(epoch FROM max(l.started_at))::bigint AS last
                           FROM zbxhist.maintenance_log l WHERE l.sqlstate IS NOT NULL
                          GROUP BY l.parent, l.action, l.sqlstate, l.message
                          ORDER BY max(l.started_at) DESC LIMIT 15) p))
"""

PROGRESS = """
SELECT jsonb_agg(jsonb_build_object('table', coalesce(p.parent::text, 'all tables'), 'action', p.action, 'partition', p.partition,
                                    'rows', p.rows, 'percent', p.percent,
                                    'started_at', extract(epoch FROM p.started_at)::bigint))
  FROM zbxhist.progress p
"""

# loading the library defines its settings
SETTINGS = """
DO $$ BEGIN PERFORM zbxhist.version(); END $$;
SELECT jsonb_agg(jsonb_build_object('name', s.name, 'value', current_setting(s.name), 'default', s.boot_val,
                                    'source', s.source, 'is_default', s.setting IS NOT DISTINCT FROM s.boot_val)
                 ORDER BY s.name NOT LIKE 'zbxhist.%', s.name)
  FROM pg_settings s
 WHERE s.name LIKE 'zbxhist.%'
    OR s.name IN ('session_preload_libraries', 'shared_preload_libraries', 'shared_buffers', 'max_wal_size',
                  'checkpoint_timeout', 'maintenance_work_mem', 'max_locks_per_transaction', 'max_connections',
                  'synchronous_commit', 'full_page_writes', 'data_checksums', 'wal_level', 'autovacuum')
"""

LOST = """
SELECT jsonb_agg(to_jsonb(l) ORDER BY l.salvaged_at DESC)
  FROM (SELECT v.parent::text AS "table", v.day, extract(epoch FROM v.salvaged_at)::bigint AS salvaged_at,
               count(*) AS ranges, sum(v.rows)::bigint AS "values", min(v.problem) AS problem
          FROM zbxhist.lost_values v GROUP BY v.parent, v.day, v.salvaged_at) l
"""

# damage that maintenance or a reader has found
DAMAGED = """
SELECT jsonb_agg(to_jsonb(d) ORDER BY d.last DESC)
  FROM (SELECT l.parent::text AS "table", l.action, l.relation, l.sqlstate, max(l.message) AS message,
               extract(epoch FROM max(l.started_at))::bigint AS last
          FROM zbxhist.maintenance_log l WHERE l.sqlstate IN ('XX001', 'XX002')
         GROUP BY l.parent, l.action, l.relation, l.sqlstate) d
"""

VERIFY = """
SELECT jsonb_agg(jsonb_build_object('day', v.day::text, 'itemid', v.itemid, 'clock', v.clock, 'problem', v.problem))
  FROM zbxhist.verify({table}::regclass) v
"""


class ReportError(Exception):
    """An error that the user can fix; hint is the command for it, or None."""

    def __init__(self, message, hint=None):
        super().__init__(message)
        self.hint = hint


class Database:
    """Runs queries by psql, each in a session of its own, with these options."""

    def __init__(self, name, options=SESSION):
        self.name = name
        self.unreadable = {}
        # as a variable, because on the command line some names would be taken as connection
        # strings
        self.environment = dict(
            os.environ, PGDATABASE=name, PGCLIENTENCODING="UTF8", LC_MESSAGES="C"
        )
        self.environment["PGOPTIONS"] = f"{os.environ.get('PGOPTIONS', '')} {options}".strip()
        user = system_user(name)
        self.psql = ["runuser", "-u", user, "--", "psql"] if user else ["psql"]
        # a directory that this user may enter
        self.directory = "/" if user else None

    def ask(self, sql):
        """Returns the one JSON value of a query; None if it is null."""
        command = ["-X", "-q", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1", "-f", "-"]
        try:
            run = subprocess.run(
                self.psql + command,
                input=sql.encode(),
                env=self.environment,
                cwd=self.directory,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                check=False,
            )
        except FileNotFoundError:
            raise ReportError("psql is not here", "apt-get install postgresql-client") from None
        if run.returncode != 0:
            raise ReportError(first_error(run.stderr.decode(errors="replace")))
        return json.loads(run.stdout) if run.stdout.strip() else None

    def section(self, name, sql, default):
        """The same for a section that may be missing."""
        try:
            answer = self.ask(sql)
        except ReportError as error:
            self.unreadable[name] = str(error)
            return default
        return default if answer is None else answer


def system_user(database):
    """Returns the user of this machine as whom psql should connect; "" for the current one."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "system-user")
    run = subprocess.run(
        [script, database], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
    )
    if run.returncode != 0:
        message, _, hint = run.stderr.decode(errors="replace").strip().partition("\nhint: ")
        raise ReportError(first_error(message), hint or None)
    return run.stdout.decode().strip()


def first_error(text):
    """Returns the error message in psql's output, without its position in the script."""
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines:
        match = re.match(r"psql:<stdin>:\d+: (?:ERROR|FATAL): +(.*)", line)
        if match:
            return match.group(1)
    return re.sub(r"^psql: (error: )?", "", lines[0]) if lines else "psql failed"


def quote(text):
    """Quotes a literal, whatever the server's settings are."""
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def shell(text):
    """Quotes a word for the shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def days_of(partitions):
    """Returns partitions and packed days as ranges of a day or more, by kind.  For archived
    days, archived_bytes are on the other server and packed_bytes are those left here."""
    days = {}
    for _, kind, state, start, end, rows, size, heap_bytes, away in partitions:
        since = start
        if end - start < DAY:
            start = start // DAY * DAY
            end = start + DAY
        day = days.setdefault(
            (start, end),
            {"from": start, "to": end, "since": None, "is_current": False}
            | {f"{k}_{what}": 0 for k in ("heap", "packed") for what in ("bytes", "values")}
            | {"bytes_before_packing": 0, "archived_bytes": 0, "archived_values": 0}
            | {"archived_bytes_here": 0},
        )
        day["is_current"] |= state == "current"
        day[f"{kind}_bytes"] += size or 0
        day[f"{kind}_values"] += max(rows or 0, 0)
        day["bytes_before_packing"] += heap_bytes or 0
        if state == "archived":
            day["archived_bytes"] += away or 0
            day["archived_values"] += max(rows or 0, 0)
            day["archived_bytes_here"] += size or 0
        if rows and rows > 0:
            day["since"] = min(day["since"] or since, since)
    for day in days.values():
        values = day["heap_values"] + day["packed_values"]
        day["bytes"] = day["heap_bytes"] + day["packed_bytes"]
        everywhere = day["bytes"] + day["archived_bytes"]
        day["bytes_per_value"] = round(everywhere / values, 2) if values else None
    return [days[key] for key in sorted(days)]


def usage_of(database, table, now, usage_days):
    """The items and hosts that take a table's disk."""
    since = "NULL::integer" if usage_days == 0 else str(max(0, now - usage_days * DAY))
    return database.section(f"items of {table}", USAGE.format(table=quote(table), since=since), {})


def verified(database, tables):
    """Runs verify() to look for damage."""
    found = []
    for table in tables:
        found += [
            dict(line, table=table["table"])
            for line in database.section(
                f"verify {table['table']}", VERIFY.format(table=quote(table["table"])), []
            )
        ]
    return found


def server_of(database):
    """Asks about the server; fails if the database does not have the extension."""
    server = database.ask(SERVER)
    if server["zbxhist"] is None:
        raise ReportError(
            f"database \"{server['database']}\" has no extension zbxhist",
            f"psql -d {shell(database.name)} -c 'CREATE EXTENSION zbxhist'",
        )
    server["time"] = database.ask("SELECT floor(extract(epoch FROM now()))::bigint")
    return server


def collect(name, usage_days, verify):
    """Returns the whole report."""
    database = Database(name)
    server = server_of(database)
    tables = database.ask(TABLES) or []
    partitions = database.section("partitions", PARTITIONS, [])
    for table in tables:
        of_table = [p for p in partitions if p[0] == table["table"]]
        table["days"] = days_of(of_table)
        table["bytes"] = table["parent_bytes"] + sum(d["bytes"] for d in table["days"])
        table["forecast"] = forecast.forecast(table, server["time"])
        table["usage"] = usage_of(database, table["table"], server["time"], usage_days)
    report = {
        "format": FORMAT,
        "server": server,
        "usage_days": usage_days,
        "tables": tables,
        "metrics": database.section("metrics", "SELECT zbxhist.metrics()", None),
        "check": database.section("check", CHECK, []),
        "progress": database.section("progress", PROGRESS, []),
        "maintenance": database.section("maintenance", MAINTENANCE, None),
        "settings": database.section("settings", SETTINGS, []),
        "damage": {
            "lost": database.section("lost values", LOST, []),
            "met": database.section("damage", DAMAGED, []),
            "verified": verified(database, tables) if verify else None,
        },
    }
    report["unreadable"] = database.unreadable
    return report
