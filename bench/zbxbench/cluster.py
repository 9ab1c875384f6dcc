"""A private PostgreSQL cluster, started for a run and removed after it."""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

import psycopg2

from . import environment

SUPERUSER = "postgres"
OWNER = "zabbix"


def tuned_settings(shared_buffers_mb=None):
    """Settings for a server that writes much, the same for every store.

    They are what a Zabbix administrator would set: a quarter of the memory for shared buffers, no
    wait for the disk at commit, checkpoints far apart, costs and prefetching for an SSD.
    Checkpoints are taken between runs and autovacuum is off, so that they do not fall into the run
    of one store only.
    """
    buffers = shared_buffers_mb or min(environment.memory_mb() // 4, 8192)
    return {
        "shared_buffers": "%dMB" % buffers,
        "synchronous_commit": "off",
        "wal_level": "replica",
        "wal_buffers": "64MB",
        "max_wal_size": "16GB",
        "min_wal_size": "1GB",
        "checkpoint_timeout": "1h",
        "checkpoint_completion_target": "0.9",
        "full_page_writes": "on",
        "wal_compression": "off",
        "maintenance_work_mem": "512MB",
        "work_mem": "32MB",
        "effective_cache_size": "%dMB" % (environment.memory_mb() // 2),
        "random_page_cost": "1.1",
        "effective_io_concurrency": "200",
        "max_connections": "60",
        "max_locks_per_transaction": "128",
        "autovacuum": "off",
        "jit": "off",
        "timezone": "UTC",
        "log_min_messages": "warning",
        "log_line_prefix": "%m [%p] ",
    }


class ServerError(Exception):
    """The cluster could not be started or used."""


@contextlib.contextmanager
def uninterrupted():
    """Ignores signals: a second Ctrl-C, or one passed on by `timeout`, must not leave a server
    behind."""
    handlers = {
        number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


class Cluster:
    """A server with its own data and socket directory."""

    def __init__(self, bindir, settings, base="/var/tmp", environment_of_server=None):
        """environment_of_server: environment variables of the server."""
        self.bindir = pathlib.Path(bindir)
        self.settings = settings
        self.base = base
        self.environment_of_server = environment_of_server or {}
        self.directory = None
        self.postmaster_pid = None
        self.peers = {}
        self.twins = {}

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()

    def start(self):
        """Creates and starts the cluster, and creates the role that owns Zabbix's database."""
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="zbxbench.", dir=self.base))
        try:
            self._prepare_directory()
            self._initdb()
            self._write_settings()
            self._pg_ctl("start", "-w", "-l", str(self.log_path))
            self._read_postmaster_pid()
            self.execute("CREATE ROLE %s LOGIN" % OWNER)
        except BaseException:
            self.stop()
            raise

    def stop(self):
        """Stops the server and those of other databases, and removes all their files."""
        with uninterrupted():
            while self.twins:
                self.twins.popitem()[1].stop()
            while self.peers:
                self.peers.popitem()[1].stop()
            if self.directory is None:
                return
            if (self.data / "postmaster.pid").exists():
                self._pg_ctl("stop", "-m", "immediate", "-w", check=False)
            shutil.rmtree(self.directory, ignore_errors=True)
            self.directory = None

    def peer(self, server_class):
        """Returns the server of another database; it is started at the first call and stopped
        with the cluster."""
        if server_class not in self.peers:
            self.peers[server_class] = server = server_class(self.base)
            server.start()
        return self.peers[server_class]

    def twin(self, **settings):
        """Returns another cluster with some different settings; it is started and stopped in
        the same way."""
        key = tuple(sorted(settings.items()))
        if key not in self.twins:
            self.twins[key] = twin = Cluster(
                self.bindir, dict(self.settings, **settings), self.base, self.environment_of_server
            )
            twin.start()
        return self.twins[key]

    @property
    def data(self):
        """The data directory."""
        return self.directory / "data"

    @property
    def log_path(self):
        """The server's log."""
        return self.directory / "log"

    def log_text(self):
        """The text that the server has logged so far."""
        return self.log_path.read_text(errors="replace")

    def _prepare_directory(self):
        (self.directory / "socket").mkdir()
        if os.geteuid() == 0:
            user = pwd.getpwnam(SUPERUSER)
            for path in (self.directory, self.directory / "socket"):
                os.chown(path, user.pw_uid, user.pw_gid)

    def _as_server_user(self, command):
        """PostgreSQL refuses to run as root."""
        if os.geteuid() == 0:
            return ["runuser", "-u", SUPERUSER, "--"] + command
        return command

    def _command(self, command, check=True):
        done = subprocess.run(
            self._as_server_user(command),
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if check and done.returncode != 0:
            raise ServerError("%s failed: %s" % (command[0], done.stderr.strip()))

    def _initdb(self):
        self._command(
            [
                str(self.bindir / "initdb"),
                "-D",
                str(self.data),
                "-U",
                SUPERUSER,
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C.UTF-8",
                "--no-sync",
            ]
        )

    def _pg_ctl(self, *arguments, check=True):
        # the server inherits our standard error, so nothing but the log must be open
        command = self._as_server_user(
            [str(self.bindir / "pg_ctl"), "-D", str(self.data)] + list(arguments)
        )
        done = subprocess.run(
            command,
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            env=dict(os.environ, **self.environment_of_server),
        )
        if check and done.returncode != 0:
            log = self.log_text() if self.log_path.exists() else ""
            raise ServerError("pg_ctl %s failed\n%s" % (arguments[0], log[-2000:]))

    def _write_settings(self):
        lines = ["%s = '%s'\n" % item for item in self.settings.items()]
        lines.append("listen_addresses = ''\n")
        # dsn() has the port: the caller's PGPORT is another server's
        lines.append("port = 5432\n")
        lines.append("unix_socket_directories = '%s'\n" % (self.directory / "socket"))
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as conf:
            conf.writelines(lines)

    def _read_postmaster_pid(self):
        with open(self.data / "postmaster.pid", encoding="utf-8") as pid_file:
            self.postmaster_pid = int(pid_file.readline())

    def dsn(self, database, user=OWNER, options=""):
        """The libpq connection string; options have the form of PGOPTIONS."""
        text = "host=%s port=5432 user=%s dbname=%s" % (self.directory / "socket", user, database)
        return text + (" options='%s'" % options if options else "")

    def connect(self, database="postgres", user=SUPERUSER, options=""):
        """A psycopg2 connection in autocommit mode."""
        connection = psycopg2.connect(self.dsn(database, user, options))
        connection.autocommit = True
        return connection

    def execute(self, sql, database="postgres", user=SUPERUSER):
        """Runs an SQL text; returns the rows of the last statement, if any."""
        connection = self.connect(database, user)
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()

    def has_extension(self, name):
        """Can CREATE EXTENSION find it?"""
        return bool(self.execute("SELECT 1 FROM pg_available_extensions WHERE name = '%s'" % name))

    def restart(self):
        """Restarts the server."""
        self._pg_ctl("stop", "-m", "fast", "-w")
        self._pg_ctl("start", "-w", "-l", str(self.log_path))
        self._read_postmaster_pid()

    def checkpoint(self):
        """Writes dirty pages, so that the next change of each page writes a full-page image."""
        self.execute("CHECKPOINT")

    def wait_for_backends(self, seconds=10):
        """Waits until no store's database has a client, because only then are their counters
        complete."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            count = self.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_type = "
                "'client backend' AND datname <> 'postgres'"
            )[0][0]
            if count == 0:
                return
            time.sleep(0.02)
