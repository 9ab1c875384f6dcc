"""MariaDB, with Zabbix's schema for MySQL, and with daily partitions."""

import os
import shutil
import threading

from ..mariadb import MariadbServer
from . import schema
from .peer import PeerStore


class RedoLog:
    """Reads InnoDB's log, as counters.Wal does PostgreSQL's."""

    def __init__(self, store):
        self.store = store

    def position(self):
        """InnoDB's log sequence number, in bytes."""
        rows = self.store.execute("SHOW GLOBAL STATUS LIKE 'Innodb_lsn_current'")
        return int(rows[0][1])

    def between(self, start, end):
        """Bytes between two positions; page images go to the doublewrite buffer instead."""
        return {"bytes": end - start, "image_bytes": 0}

    @staticmethod
    def full_page_images():
        """None, for the same reason."""
        return 0


class Mariadb(PeerStore):
    """Zabbix's schema, in a database of its own in the one private server."""

    name = "mariadb"
    label = "MariaDB"
    server_class = MariadbServer

    def execute(self, sql):
        """Runs one statement in the store's database."""
        return self.server.execute(sql, self.namespace)

    def open_connection(self):
        """A connection to the store's database."""
        return self.server.connect(self.namespace)

    def loader_arguments(self):
        return ["--driver=mariadb", "--dsn=%s:%s" % (self.server.socket, self.namespace)]

    def wal_counter(self, wal):
        return RedoLog(self)

    def create_namespace(self):
        self.server.execute(
            "CREATE DATABASE %s CHARACTER SET utf8mb4 COLLATE utf8mb4_bin" % self.namespace
        )

    def create_table(self, table, periods):
        del periods
        self.execute(schema.create_table_mysql(table))

    def partition(self, table, period):
        """The partition of a period's rows; None without partitions."""
        del table, period

    def clean(self):
        for table in self.tables:
            self.execute("TRUNCATE " + table)

    def rows(self, table):
        return int(self.execute("SELECT count(*) FROM " + table)[0][0])

    def copy_period(self, table, period, stream):
        """LOAD DATA, which reads COPY text as it is; the server reads it from a named pipe."""
        del period
        pipe = self.server.directory / "load"
        os.mkfifo(pipe, 0o644)
        try:
            feeder = threading.Thread(target=self._feed, args=(stream, pipe), daemon=True)
            feeder.start()
            self.execute("LOAD DATA INFILE '%s' INTO TABLE %s" % (pipe, table))
            feeder.join()
        finally:
            pipe.unlink()

    @staticmethod
    def _feed(stream, pipe):
        with open(pipe, "wb") as target:
            shutil.copyfileobj(stream, target, 1 << 20)

    def disk_bytes(self):
        directory = self.server.directory / "data" / self.namespace
        return sum(path.stat().st_size for path in directory.glob("*.ibd"))

    def settle(self):
        self.execute("ANALYZE TABLE " + ", ".join(self.tables))

    def drop(self):
        self.server.execute("DROP DATABASE IF EXISTS " + self.namespace)


class MariadbPartitioned(Mariadb):
    """PARTITION BY RANGE (clock), with daily partitions made in advance: MySQL's usual
    recipe."""

    name = "mariadb-partitioned"
    label = "MariaDB partitions"

    def create_table(self, table, periods):
        partitions = ", ".join(
            "PARTITION %s VALUES LESS THAN (%d)" % (period.suffix, period.stop)
            for period in periods
        )
        self.execute(
            "%s PARTITION BY RANGE (clock) (%s)" % (schema.create_table_mysql(table), partitions)
        )

    def partition(self, table, period):
        return period.suffix

    def add_partition(self, table, period):
        """What a maintenance script does for a new day."""
        self.execute(
            "ALTER TABLE %s ADD PARTITION (PARTITION %s VALUES LESS THAN (%d))"
            % (table, period.suffix, period.stop)
        )

    def drop_partition(self, table, period):
        """What a maintenance script does with an expired day."""
        self.execute("ALTER TABLE %s DROP PARTITION %s" % (table, period.suffix))
