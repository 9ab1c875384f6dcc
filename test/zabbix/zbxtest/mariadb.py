"""A private MariaDB, with the methods of cluster.Cluster."""

import gzip
import os
import re
import shutil
import subprocess

from . import proc

# how mariadb --batch escapes characters
ESCAPED = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\"}


class MariaDb:
    """The server, reached by TCP with or without a password."""

    kind = "MYSQL"
    host = "127.0.0.1"

    def __init__(self, directory):
        self.directory = directory
        self.port = proc.free_port()
        self.log = f"{directory}/mariadb.log"
        self.process = None

    def start(self):
        """Makes its files and starts it; dates are UTC's."""
        data = f"{self.directory}/mariadb"
        proc.run(
            [
                "mariadb-install-db",
                "--no-defaults",
                f"--datadir={data}",
                "--skip-test-db",
                "--auth-root-authentication-method=normal",
            ]
        )
        self.process = proc.start(
            [
                # Debian has it outside users' PATH
                shutil.which("mariadbd", path=f"{os.environ['PATH']}:/usr/sbin"),
                "--no-defaults",
                f"--datadir={data}",
                f"--socket={self.directory}/mariadb.sock",
                f"--bind-address={self.host}",
                f"--port={self.port}",
                "--skip-name-resolve",
                f"--pid-file={self.directory}/mariadb.pid",
                f"--tmpdir={self.directory}",
                "--innodb-flush-log-at-trx-commit=0",
                "--default-time-zone=+00:00",
            ],
            self.log,
        )
        proc.wait_for("MariaDB to start", self._accepts, 120)

    def _accepts(self):
        """Does it take connections yet?"""
        if self.process.poll() is not None:
            raise proc.Failure(f"MariaDB ended:\n{proc.tail(self.log)}")
        return proc.run([*self._command(), "-e", "SELECT 1"], check=False)[0] == 0

    def _command(self):
        """Its client, as root."""
        return [
            "mariadb",
            "--no-defaults",
            "--default-character-set=utf8mb4",
            "--batch",
            "--skip-column-names",
            f"--socket={self.directory}/mariadb.sock",
            "--user=root",
        ]

    def create(self, database):
        """Creates a database as in Zabbix's manual, and its user, zabbix."""
        self.psql(
            "mysql",
            f"CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;"
            f" CREATE USER zabbix@'{self.host}'; GRANT ALL ON {database}.* TO zabbix@'{self.host}'",
        )

    def psql(self, database, sql):
        """Runs SQL and returns its rows as lists of strings, as Cluster.psql."""
        done = subprocess.run(
            [*self._command(), database],
            input=sql.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=300,
        )
        if done.returncode != 0:
            raise proc.Failure(f"SQL failed: {sql[:500]}\n{done.stderr.decode()[-2000:]}")
        lines = done.stdout.decode().split("\n")[:-1]
        return [[_unescaped(each) for each in line.split("\t")] for line in lines]

    def value(self, database, sql):
        """The first column of the first row."""
        rows = self.psql(database, sql)
        return rows[0][0] if rows else None

    def load(self, database, path):
        """Feeds a compressed script to it."""
        with gzip.open(path, "rb") as script:
            self.psql(database, script.read().decode())

    def stop(self):
        """Stops it normally."""
        if self.process:
            proc.stop(self.process)


def _unescaped(text):
    """Unescapes a value printed by --batch."""
    return re.sub(r"\\(.)", lambda match: ESCAPED[match.group(1)], text)
