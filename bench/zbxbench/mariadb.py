"""A private MariaDB server."""

import os
import shutil

from . import environment, libmariadb
from .peer import Peer

ROOT = "root"

# Debian has the server in a directory outside users' PATH
PATH = os.defpath + ":/usr/sbin:/usr/local/sbin"


def tuned_settings():
    """Settings for a server that writes much, equivalent to PostgreSQL's.

    Equal are the cache (a quarter of the memory), commits that do not wait for the log
    (innodb_flush_log_at_trx_commit = 0, like synchronous_commit = off: it is written and flushed in
    the background), protection against torn pages (the doublewrite buffer, like full_page_writes),
    no replication log, and no statistics or checkpoints during a run.  According to MariaDB's
    documentation ("InnoDB System Variables", "Configuring the InnoDB Buffer Pool"): a redo log that
    holds hours of writes, O_DIRECT, and on an SSD no flushing of neighbours and an I/O capacity
    above the default, which is for one disk.
    """
    return {
        "innodb_buffer_pool_size": "%dM" % min(environment.memory_mb() // 4, 8192),
        "innodb_log_file_size": "4G",
        "innodb_log_buffer_size": "64M",
        "innodb_flush_log_at_trx_commit": "0",
        "innodb_doublewrite": "ON",
        "innodb_flush_method": "O_DIRECT",
        "innodb_flush_neighbors": "0",
        "innodb_io_capacity": "2000",
        "innodb_io_capacity_max": "4000",
        "innodb_file_per_table": "ON",
        "innodb_stats_auto_recalc": "OFF",
        "innodb_buffer_pool_dump_at_shutdown": "OFF",
        "innodb_buffer_pool_load_at_startup": "OFF",
        "skip_log_bin": None,
        "performance_schema": "OFF",
        "character_set_server": "utf8mb4",
        "collation_server": "utf8mb4_bin",
        "max_allowed_packet": "64M",
        "max_connections": "60",
        "default_time_zone": "+00:00",
    }


def program(name):
    """The path of a program of the package; None if it is missing."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":" + PATH)


class MariadbServer(Peer):
    """mariadbd on a socket, without TCP."""

    NAME = "mariadb"

    @classmethod
    def missing(cls):
        """Why there can be no server; None if there can."""
        if not program("mariadbd") or not program("mariadb-install-db"):
            return "the package mariadb-server is not installed"
        if not program("mariadb_config") or libmariadb.LIBRARY is None:
            return "the package libmariadb-dev is not installed"
        return None

    @property
    def settings(self):
        return tuned_settings()

    @property
    def socket(self):
        """The socket's path."""
        return self.directory / "socket"

    def prepare(self):
        self.run(
            [
                program("mariadb-install-db"),
                "--no-defaults",
                "--datadir=%s" % (self.directory / "data"),
                "--skip-test-db",
                "--auth-root-authentication-method=normal",
                "--skip-name-resolve",
                "--innodb-log-file-size=" + self.settings["innodb_log_file_size"],
            ]
        )

    def command(self):
        options = [
            "--%s" % name if value is None else "--%s=%s" % (name, value)
            for name, value in self.settings.items()
        ]
        return [
            program("mariadbd"),
            "--no-defaults",
            "--datadir=%s" % (self.directory / "data"),
            "--socket=%s" % self.socket,
            "--skip-networking",
            "--skip-name-resolve",
            "--tmpdir=%s" % self.directory,
            "--pid-file=%s" % (self.directory / "pid"),
        ] + options

    def is_ready(self):
        try:
            self.connect().close()
            return True
        except libmariadb.Error:
            return False

    def connect(self, database=""):
        """A connection in autocommit mode."""
        return libmariadb.Connection(self.socket, ROOT, database)

    def execute(self, sql, database=""):
        """Runs a statement; returns its rows as texts."""
        connection = self.connect(database)
        try:
            return list(connection.execute(sql))
        finally:
            connection.close()

    def version(self):
        return self.execute("SELECT version()")[0][0]
