"""The peers experiment's databases that are libraries: ClickHouse, DuckDB, Parquet."""

import importlib.util
import pathlib
import shutil
import tempfile

from . import counters, peers_worker
from .peers_base import (
    ABOVE,
    HOUR,
    HOURS,
    NEWEST,
    TOTAL,
    Contender,
    Terms,
    files_bytes,
    total_above,
    where,
)


class Library(Contender):
    """A database that is a library, in a process and a directory of its own."""

    LIBRARY = None

    def __init__(self, base):
        self.base = base
        self.directory = None
        self.worker = None
        self.table = None

    @classmethod
    def missing(cls):
        """Why it cannot be measured; None when it can."""
        if importlib.util.find_spec(cls.LIBRARY.MODULE) is None:
            return "%s is not installed, see bench/README.md" % cls.LIBRARY.MODULE
        return None

    @property
    def settings(self):
        """What it was tuned by, for the result file."""
        return {"table": self.columns("history"), "storage": self.storage()}

    def start(self):
        """An empty database."""
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="zbxbench.", dir=self.base))
        data = self.directory / "data"
        data.mkdir()
        self.worker = peers_worker.Worker(self.LIBRARY, data)

    def stop(self):
        """Ends the process, removes its files."""
        if self.worker is not None:
            self.worker.stop()
        if self.directory is not None:
            shutil.rmtree(self.directory, ignore_errors=True)
        self.worker = self.directory = None

    def clear(self):
        self.stop()
        self.start()

    def cpu(self):
        return counters.threads_cpu(self.worker.process.pid)

    def execute(self, sql):
        """Rows of one statement."""
        return self.worker.ask(sql)[2]

    def version(self):
        """The library's."""
        return self.execute("SELECT version()")[0][0]

    def columns(self, table):
        """The columns of its table."""
        raise NotImplementedError

    def storage(self):
        """How they are kept."""
        raise NotImplementedError

    def ask(self, question):
        return self.worker.ask(self.text(question))

    def text(self, question):
        """SQL."""
        raise NotImplementedError


class ClickHouse(Library):
    """ClickHouse with the schema of Zabbix 8.0 (database/clickhouse/history_schema.sh)."""

    NAME = "clickhouse"
    LABEL = "ClickHouse, Zabbix's schema"
    TERMS = Terms(
        "kept",
        "parts rewritten",
        "an INSERT is whole; not synced to the disk",
        "ns",
    )
    LIBRARY = peers_worker.Chdb
    TIME = "toUnixTimestamp64Nano(clock_ns)"
    BUCKET = "intDiv(toUnixTimestamp(clock_ns), 3600) * 3600"
    VALUES = "itemid, fromUnixTimestamp64Nano(clock * 1000000000 + ns), value"
    LATEST = "clock_ns"
    SETTING = None

    def columns(self, table):
        kind = "UInt64" if table == "history_uint" else "Float64"
        return "itemid UInt64, clock_ns DateTime64(9), value " + kind

    def storage(self):
        return (
            "MergeTree PARTITION BY toDate(clock_ns) PRIMARY KEY (itemid, clock_ns) "
            "TTL clock_ns + toIntervalSecond(2678400)"
        )

    def create(self, data):
        self.table = data.dataset.table
        if self.SETTING:
            self.execute("SET " + self.SETTING)
        self.execute("CREATE DATABASE zabbix ENGINE = Atomic")
        self.execute(
            "CREATE TABLE zabbix.%s (%s) ENGINE = %s"
            % (self.table, self.columns(self.table), self.storage())
        )

    def load(self, data, sent):
        kind = "UInt64" if self.table == "history_uint" else "Float64"
        for path in sent:
            self.execute(
                "INSERT INTO zabbix.%s SELECT %s FROM file('%s', 'TSV', "
                "'itemid UInt64, clock Int64, value %s, ns Int64')"
                % (self.table, self.VALUES, path, kind)
            )
        self.execute("OPTIMIZE TABLE zabbix.%s FINAL" % self.table)

    def disk_bytes(self):
        return int(
            self.execute(
                "SELECT sum(bytes_on_disk) FROM system.parts "
                "WHERE active AND database = 'zabbix'"
            )[0][0]
        )

    def condition(self, question):
        """A question's items and times."""
        listed = ",".join(map(str, question.items))
        return (
            "itemid IN (%s) AND clock_ns >= fromUnixTimestamp64Nano(%d) "
            "AND clock_ns < fromUnixTimestamp64Nano(%d)"
            % (listed, question.start * 10**9, question.stop * 10**9)
        )

    def text(self, question):
        name = "zabbix." + self.table
        if question.kind == HOUR:
            return "SELECT %s, value FROM %s WHERE %s" % (
                self.TIME,
                name,
                self.condition(question),
            )
        if question.kind == NEWEST:
            return "SELECT itemid, argMax(value, %s) FROM %s GROUP BY itemid" % (self.LATEST, name)
        if question.kind == TOTAL:
            return "SELECT sum(value) FROM " + name
        if question.kind == ABOVE:
            return total_above(question, name)
        if question.kind == HOURS:
            return "SELECT %s AS hour, sum(value), count() FROM %s GROUP BY hour" % (
                self.BUCKET,
                name,
            )
        return (
            "SELECT itemid, %s AS hour, avg(value), min(value), max(value) FROM %s WHERE %s "
            "GROUP BY itemid, hour" % (self.BUCKET, name, self.condition(question))
        )


class ClickHouseCodecs(ClickHouse):
    """The codecs that its documentation has for such columns."""

    NAME = "clickhouse-codecs"
    LABEL = "ClickHouse, codecs"
    TIME = "toInt64(clock) * 1000000000 + ns"
    BUCKET = "intDiv(clock, 3600) * 3600"
    VALUES = "itemid, clock, ns, value"
    LATEST = "toInt64(clock) * 1000000000 + ns"
    FLOATS = "Float64 CODEC(ZSTD(3))"

    def columns(self, table):
        return (
            "itemid UInt64 CODEC(Delta, ZSTD), clock UInt32 CODEC(DoubleDelta, ZSTD), "
            "ns UInt32 CODEC(T64, ZSTD), value "
            + ("UInt64 CODEC(Delta, ZSTD(3))" if table == "history_uint" else self.FLOATS)
        )

    def storage(self):
        return (
            "MergeTree PARTITION BY toDate(toDateTime(clock)) ORDER BY (itemid, clock, ns) "
            "TTL toDateTime(clock) + toIntervalSecond(2678400)"
        )

    def condition(self, question):
        return where(question)


class ClickHouseAlp(ClickHouseCodecs):
    """The same with ALP for doubles, which its documentation calls beta."""

    NAME = "clickhouse-alp"
    LABEL = "ClickHouse, ALP (beta)"
    FLOATS = "Float64 CODEC(ALP, ZSTD)"
    SETTING = "enable_alp_codec = 1"


class DuckDb(Library):
    """DuckDB: sorted into a file of its own at the end, which also leaves no free blocks."""

    NAME = "duckdb"
    LABEL = "DuckDB"
    TERMS = Terms("kept (a key is possible)", "any row", "kept; one process at a time", "ns")
    LIBRARY = peers_worker.Duckdb
    LATEST = "clock::bigint * 1000000000 + ns"

    def columns(self, table):
        kind = "UBIGINT" if table == "history_uint" else "DOUBLE"
        return "itemid BIGINT, clock INTEGER, ns INTEGER, value " + kind

    def storage(self):
        return "STORAGE_VERSION latest; all days into one file, then to another ORDER BY itemid, clock, ns"

    def day(self, path):
        """A day's rows."""
        kind = "UBIGINT" if self.table == "history_uint" else "DOUBLE"
        return (
            "SELECT itemid, clock, ns, value FROM read_csv('%s', delim='\\t', header=false, "
            "columns={'itemid': 'BIGINT', 'clock': 'INTEGER', 'value': '%s', 'ns': 'INTEGER'})"
            % (path, kind)
        )

    def attach(self, name):
        """A file of its own."""
        self.execute(
            "ATTACH '%s' AS %s (STORAGE_VERSION 'latest')" % (self.directory / "data" / name, name)
        )
        self.execute("USE " + name)

    def create(self, data):
        self.table = data.dataset.table
        self.attach("days")
        self.execute("CREATE TABLE %s (%s)" % (self.table, self.columns(self.table)))

    def load(self, data, sent):
        for path in sent:
            self.execute("INSERT INTO %s %s" % (self.table, self.day(path)))
        self.execute("CHECKPOINT")
        self.attach("sorted")
        self.execute(
            "CREATE TABLE %s AS SELECT * FROM days.%s ORDER BY itemid, clock, ns"
            % (self.table, self.table)
        )
        self.execute("CHECKPOINT")
        self.execute("DETACH days")

    def disk_bytes(self):
        return files_bytes(self.directory / "data" / "sorted")

    def text(self, question):
        if question.kind == HOUR:
            return "SELECT %s, value FROM %s WHERE %s" % (self.LATEST, self.table, where(question))
        if question.kind == NEWEST:
            return "SELECT itemid, arg_max(value, %s) FROM %s GROUP BY itemid" % (
                self.LATEST,
                self.table,
            )
        if question.kind == TOTAL:
            return "SELECT sum(value) FROM " + self.table
        if question.kind == ABOVE:
            return total_above(question, self.table)
        if question.kind == HOURS:
            return (
                "SELECT clock // 3600 * 3600 AS hour, sum(value), count(*) FROM %s GROUP BY hour"
                % self.table
            )
        return (
            "SELECT itemid, clock // 3600 * 3600 AS hour, avg(value), min(value), max(value) "
            "FROM %s WHERE %s GROUP BY itemid, hour" % (self.table, where(question))
        )

    def version(self):
        return self.execute("SELECT version()")[0][0].lstrip("v")


class Parquet(DuckDb):
    """Files of Parquet, one a day, written and read by DuckDB."""

    NAME = "parquet"
    LABEL = "Parquet (DuckDB)"
    TERMS = Terms("kept", "files rewritten", "a file is there or not", "ns")
    ROW_GROUP = 122880

    def storage(self):
        return (
            "COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE %d, a file a day ORDER BY "
            "itemid, clock, ns; parquet_metadata_cache" % self.ROW_GROUP
        )

    def create(self, data):
        self.table = data.dataset.table
        (self.directory / "files").mkdir()

    def load(self, data, sent):
        files = self.directory / "files"
        for number, path in enumerate(sent):
            self.execute(
                "COPY (%s ORDER BY itemid, clock, ns) TO '%s/%04d.parquet' (FORMAT parquet, COMPRESSION zstd, "
                "PARQUET_VERSION v2, ROW_GROUP_SIZE %d)"
                % (self.day(path), files, number, self.ROW_GROUP)
            )
        self.execute("SET parquet_metadata_cache = true")
        self.execute(
            "CREATE VIEW %s AS SELECT * FROM read_parquet('%s/*.parquet')" % (self.table, files)
        )

    def disk_bytes(self):
        return files_bytes(self.directory / "files")
