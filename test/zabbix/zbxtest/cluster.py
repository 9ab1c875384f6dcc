"""A private PostgreSQL cluster: unix socket only, in the scratch directory."""

import csv
import gzip
import io
import os
import re
import shutil
import signal
import subprocess

from . import proc

SETTINGS = """
listen_addresses = ''
unix_socket_directories = '{directory}'
port = {port}
fsync = off
full_page_writes = off
shared_buffers = 256MB
max_wal_size = 2GB
max_connections = 200
timezone = 'Pacific/Auckland'
log_timezone = 'UTC'
log_line_prefix = '%m [%p] %q%d %a '
log_min_messages = warning
log_checkpoints = off
jit = off
"""


class Cluster:
    """The cluster and psql on it.  Its time zone is not UTC on purpose:
    a day's bounds must not depend on it."""

    kind = "POSTGRESQL"
    port = 5432  # only names the socket: no TCP

    def __init__(self, directory):
        self.directory = self.host = directory
        self.bin = _bindir()
        self.log = f"{directory}/postgresql.log"
        self.process = None
        self.version = self._version()

    def _version(self):
        """PostgreSQL's major version."""
        text = proc.run([f"{self.bin}/postgres", "--version"])[1]
        return int(re.search(r"\) (\d+)", text).group(1))

    def start(self):
        """initdb, then the server in the foreground of a child."""
        data = f"{self.directory}/data"
        proc.run(
            [
                f"{self.bin}/initdb",
                "-D",
                data,
                "-U",
                "postgres",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C.UTF-8",
                "-N",
            ]
        )
        with open(f"{data}/postgresql.conf", "a") as conf:
            conf.write(SETTINGS.format(directory=self.directory, port=self.port))
        self.process = proc.start([f"{self.bin}/postgres", "-D", data], self.log)
        proc.wait_for("PostgreSQL to start", self._accepts)
        self.psql(
            "postgres",
            "CREATE ROLE zabbix LOGIN; CREATE ROLE someone LOGIN;"
            " CREATE ROLE zbx_monitor LOGIN; GRANT pg_monitor TO zbx_monitor;",
            user="postgres",
        )

    def _accepts(self):
        """Does it take connections yet?"""
        if self.process.poll() is not None:
            raise proc.Failure(f"PostgreSQL ended:\n{proc.tail(self.log)}")
        return (
            proc.run(
                [f"{self.bin}/pg_isready", "-q", "-h", self.host, "-p", str(self.port)],
                check=False,
            )[0]
            == 0
        )

    def stop(self):
        """Fast shutdown."""
        if self.process:
            proc.stop(self.process, signal.SIGINT, timeout=60)

    def _command(self, database, user):
        """psql, without anybody's own settings."""
        return [
            f"{self.bin}/psql",
            "-XAq",
            "--csv",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            self.host,
            "-p",
            str(self.port),
            "-U",
            user,
            "-d",
            database,
        ]

    def psql(self, database, sql, user="zabbix", timeout=300):
        """Runs SQL and returns its rows as lists of strings."""
        done = subprocess.run(
            self._command(database, user),
            input=sql.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=timeout,
            env={**os.environ, "PGOPTIONS": "", "PGTZ": "UTC"},
        )
        if done.returncode != 0:
            raise proc.Failure(
                f"SQL failed in {database}: {sql[:500]}\n{done.stderr.decode()[-2000:]}"
            )
        csv.field_size_limit(1 << 28)
        return list(csv.reader(io.StringIO(done.stdout.decode(), newline="")))

    def value(self, database, sql, user="zabbix"):
        """The first column of the first row."""
        rows = self.psql(database, sql, user)
        return rows[0][0] if rows else None

    def create(self, database, template="template0"):
        """A database that belongs to the ordinary role zabbix."""
        self.psql(
            "postgres",
            f'CREATE DATABASE "{database}" OWNER zabbix ' f'TEMPLATE "{template}"',
            user="postgres",
        )

    def drop(self, database):
        """Drops a database, to leave the disk to the next."""
        self.psql("postgres", f'DROP DATABASE "{database}" WITH (FORCE)', user="postgres")

    def load(self, database, path):
        """Feeds a compressed script to psql."""
        psql = subprocess.Popen(
            self._command(database, "zabbix") + ["-o", "/dev/null"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        with gzip.open(path) as script, psql.stdin as pipe:
            shutil.copyfileobj(script, pipe, 1 << 20)
        output = psql.stdout.read()
        if psql.wait() != 0:
            raise proc.Failure(f"{path}: {output.decode()[-2000:]}")

    def complaints(self, database, allowed):
        """Lines of the server's log about a database that nobody expected."""
        level = re.compile(r" (WARNING|ERROR|FATAL|PANIC):  ")
        with open(self.log, errors="replace") as log:
            lines = [
                line.rstrip() for line in log if level.search(line) and f"] {database} " in line
            ]
        return [line for line in lines if not any(re.search(pattern, line) for pattern in allowed)]


def _bindir():
    """The programs of the PostgreSQL that PG_CONFIG names."""
    pg_config = os.environ.get("PG_CONFIG", "pg_config")
    return proc.run([pg_config, "--bindir"])[1].strip()
