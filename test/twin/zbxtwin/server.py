"""The server: a running one, or a private one whose programs are in PATH."""

import contextlib
import getpass
import os
import shutil
import subprocess
import tempfile

from .tables import PLAIN as COMMON
from .tables import TABLES, Dice, first_inserts, first_upkeep
from .wire import Connection

PLAIN, MANAGED, ARCHIVE = "twin_plain", "twin_managed", "twin_archive"
SETTINGS = """
autovacuum = off
fsync = off
listen_addresses = ''
log_min_messages = error
log_min_error_statement = panic
shared_buffers = 32MB
unix_socket_directories = '{place}'
"""
# as in dist/archive/archive.sql
ARCHIVED_GROUPS = """
CREATE SCHEMA zbxhist_archive;
CREATE TABLE zbxhist_archive.packed_group (copy uuid NOT NULL, number bigint NOT NULL, payload bytea NOT NULL, PRIMARY KEY (copy, number));
"""


@contextlib.contextmanager
def private_server():
    """A server in a temporary directory: its directory and port."""
    with tempfile.TemporaryDirectory(prefix="zbxhist-twin-") as place:
        data, user = f"{place}/data", getpass.getuser()
        quiet = {"check": True, "stdout": subprocess.DEVNULL}
        subprocess.run(
            ["initdb", "-D", data, "-U", user, "-A", "trust", "-N", "--locale=C.UTF-8"], **quiet
        )
        with open(f"{data}/postgresql.conf", "a", encoding="utf-8") as file:
            file.write(SETTINGS.format(place=place))
        control = ["pg_ctl", "-w", "-D", data, "-l", f"{place}/log"]
        subprocess.run([*control, "start"], **quiet)
        try:
            yield place, "5432", user
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **quiet)
            if keep := os.environ.get("ZBXHIST_TWIN_LOG"):
                shutil.copy(f"{place}/log", keep)


@contextlib.contextmanager
def any_server():
    """The server of PGHOST, or a private one: directory, port and user."""
    if "PGHOST" in os.environ:
        yield os.environ["PGHOST"], os.environ.get("PGPORT", "5432"), os.environ.get(
            "PGUSER", getpass.getuser()
        )
    else:
        with private_server() as address:
            yield address


class Server:
    """The databases that each episode begins with."""

    def __init__(self, address, seed):
        self.address, self.seed = address, seed
        self.control = Connection(*address, "postgres")
        # days are archived by it
        self.has_archive = bool(
            self.must("SELECT 1 FROM pg_available_extensions WHERE name = 'postgres_fdw'")
        )
        self.must(f"DROP DATABASE IF EXISTS {ARCHIVE} WITH (FORCE)")
        self.must(f"CREATE DATABASE {ARCHIVE}")
        archive = Connection(*address, ARCHIVE)
        self.must(ARCHIVED_GROUPS, archive)
        archive.close()
        for name in (PLAIN, MANAGED):
            self.must(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            self.must(f"DROP DATABASE IF EXISTS {name}_start WITH (FORCE)")
            self.must(f"CREATE DATABASE {name}_start")
            self.fill(name)

    def must(self, sql, connection=None):
        """Runs SQL that must succeed; returns the rows."""
        answer = (connection or self.control).execute(sql)
        if answer.error:
            raise RuntimeError(f"{answer.error} {answer.message}: {sql[:300]}")
        return answer.texts()

    def fill(self, name):
        """Makes the tables and the first rows; on the managed side also packed days."""
        connection, dice = Connection(*self.address, f"{name}_start"), Dice(self.seed)
        statements = [table.definition() for table in TABLES.values()] + COMMON.strip().split("\n")
        if name == MANAGED:
            statements += [
                "SET client_min_messages = error",
                "CREATE EXTENSION zbxhist",
                *self.archive_server(),
                *first_upkeep(dice),
            ]
        else:
            statements += [sql for table in TABLES.values() for sql in first_inserts(dice, table)]
        for sql in [*statements, "ANALYZE"]:
            self.must(sql, connection)
        connection.close()

    def archive_server(self):
        """Makes the server and user mapping for the days that an episode archives in another
        database."""
        directory, port, user = self.address
        if not self.has_archive:
            return
        yield "CREATE EXTENSION postgres_fdw"
        yield f"CREATE SERVER {ARCHIVE} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{directory}', port '{port}', dbname '{ARCHIVE}')"
        yield f"CREATE USER MAPPING FOR CURRENT_USER SERVER {ARCHIVE} OPTIONS (user '{user}')"

    def renew(self):
        """Makes new databases."""
        for name in (PLAIN, MANAGED):
            self.must(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            self.must(f"CREATE DATABASE {name} TEMPLATE {name}_start")
