"""Starts a server on an image, lets it recover, and compares its rows with the acknowledged
ones."""

import collections
import os
import re
import signal
import subprocess
import time

from .server import Lost, Server
from .workload import RETENTION, TABLES, insert

# the database's directory, and the file numbers that its catalogs name
FILES = """
SELECT 'base/' || oid FROM pg_database WHERE datname = current_database();
SELECT pg_relation_filenode(oid) FROM pg_class WHERE pg_relation_filenode(oid) IS NOT NULL;
"""

ROWS = "\n".join(
    "SELECT '%s', itemid, clock, ns, value FROM %s;" % (table, table) for table in TABLES
)

AMCHECK = """
SELECT c.oid::regclass, v.* FROM pg_class c, LATERAL verify_heapam(c.oid) v WHERE c.relkind IN ('r', 'm');
SELECT count(bt_index_check(i.indexrelid, true)) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'btree' AND i.indisvalid AND i.indrelid >= 16384 \\gset none_
"""

VISIBILITY = """
SELECT c.oid::regclass, 'visible', t FROM pg_class c, LATERAL pg_check_visible(c.oid) t
 WHERE c.relkind = 'r' AND c.relnamespace = 'zbxhist_packed'::regnamespace;
SELECT c.oid::regclass, 'frozen', t FROM pg_class c, LATERAL pg_check_frozen(c.oid) t
 WHERE c.relkind = 'r' AND c.relnamespace = 'zbxhist_packed'::regnamespace;
"""

NEW_WRITER = 9

# messages of any start and stop
USUAL = ("starting up", "administrator command")

# no alarm is a torn free space map: PostgreSQL warns and begins a new one
ALARMING = re.compile(r"(PANIC|FATAL|TRAP): |] (XX|58)\w{3} (LOG|ERROR): ")

PAGE = 8192


def line_of(table, key, value):
    return "%s|%d|%d|%d|%s" % (table, *key, value)


def clock_of(line):
    return int(line.split("|", 3)[2])


class History:
    """A writer's rows after a number of its transactions; it can go forward and back."""

    def __init__(self, writer):
        self.attempts = writer.attempts + ([writer.pending] if writer.pending else [])
        self.number = 0
        self.rows = set()

    def go_to(self, number):
        while self.number < number:
            self._change(self.attempts[self.number].changes, 0, 1)
            self.number += 1
        while self.number > number:
            self.number -= 1
            self._change(self.attempts[self.number].changes, 1, 0)
        return self.rows

    def _change(self, changes, before, after):
        for (table, key), values in changes.items():
            if values[before] is not None:
                self.rows.remove(line_of(table, key, values[before]))
            if values[after] is not None:
                self.rows.add(line_of(table, key, values[after]))

    def least_and_most(self, time):
        """The number of transactions acknowledged before a time, and of those sent before
        it."""
        least = most = 0
        for attempt in self.attempts:
            if attempt.acknowledged is not None and attempt.acknowledged <= time:
                least = attempt.number
            if attempt.sent < time:
                most = attempt.number
        return least, most


def some(lines):
    lines = sorted(lines)
    return "%d, as %s" % (len(lines), "; ".join(line[:60] for line in lines[:3]))


class Image:
    """A directory with an image of a scene's disk at a time."""

    def __init__(self, scene, time_of_loss, path):
        self.scene = scene
        self.time = time_of_loss
        self.path = path
        self.problems = []
        self.directory, self.files = "base", []
        self.clock = scene.clock_at(time_of_loss)
        # older rows may have been dropped, or may be while the image is checked
        self.limit = self.clock + 600 - RETENTION

    def check(self):
        """Returns what is wrong with the image."""
        server = Server(
            os.path.join(self.path, "data"),
            os.path.join(self.path, "socket"),
            os.path.join(self.path, "log"),
            self.scene.clock_environment("%+d" % (self.clock - int(time.time()))),
            # this server loses no power itself
            [*self.scene.settings, "fsync=off", "autovacuum=off"],
        )
        try:
            self._visit(server)
        finally:
            # if it is still running
            server.end(signal.SIGQUIT)
        with open(server.log, errors="replace") as log:
            for line in log:
                if ALARMING.search(line) and not any(each in line for each in USUAL):
                    self.problems.append("log: " + line.strip()[:300])
        if self.files:
            self._sweep(server.data)
        sums = subprocess.run(
            ["pg_checksums", "--check", "-D", server.data],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if sums.returncode != 0:
            self.problems.append("pg_checksums: " + sums.stdout[:600].replace("\n", " "))
        return self.problems

    def _visit(self, server):
        if not server.start():
            self.problems.append("it does not start")
            return
        session = server.session()
        try:
            self._look(session)
            self._go_on(session)
            self.directory, *self.files = self._ask(session, "files", FILES)
        except Lost as lost:
            self.problems.append("the server is gone: %s" % lost)
        session.close()
        if server.end() != 0:
            self.problems.append("it does not stop")

    def _sweep(self, data):
        """Removes what PostgreSQL leaves after a crash and never reads, but pg_checksums does:
        files of tables whose transaction did not commit, and partial pages at the ends of
        files.  The latter in any database, because autovacuum visits template1, too."""
        for directory, _, names in os.walk(data):
            relative = os.path.relpath(directory, data)
            if relative != "global" and not relative.startswith("base/"):
                continue
            for name in names:
                path = os.path.join(directory, name)
                number = re.match(r"[0-9]+", name)
                if not number:
                    continue
                if (
                    relative == self.directory
                    and number.group() not in self.files
                    and int(number.group()) >= 16384
                ):
                    os.remove(path)
                elif os.path.getsize(path) % PAGE:
                    os.truncate(path, os.path.getsize(path) // PAGE * PAGE)

    def _ask(self, session, what, sql):
        """Runs a query; returns the lines that are not errors, and notes errors."""
        lines = session.run(sql)
        errors = [line for line in lines if "ERROR:" in line or line.startswith("FATAL:")]
        if errors:
            self.problems.append("%s: %s" % (what, errors[0][:300]))
        return [line for line in lines if "ERROR:" not in line]

    def _none(self, session, what, sql):
        """Runs a query that must return nothing."""
        lines = self._ask(session, what, sql)
        if lines:
            self.problems.append("%s: %s" % (what, some(lines)))

    def _look(self, session):
        """Acknowledged transactions must be there, those never sent must not, and none may be
        there in part."""
        prepared = self._ask(session, "prepared", "SELECT gid FROM pg_prepared_xacts;")
        for gid in prepared:
            self._ask(session, "commit prepared", "COMMIT PREPARED '%s';" % gid)
        numbers = dict(
            map(int, line.split("|"))
            for line in self._ask(session, "progress", "SELECT writer, number FROM progress;")
        )
        self.expected = set()
        for writer in self.scene.writers:
            history = self.scene.histories[writer.number]
            number = numbers.get(writer.number, 0)
            least, most = history.least_and_most(self.time)
            if not least <= number <= most:
                self.problems.append(
                    "writer %d: %d of %d to %d transactions" % (writer.number, number, least, most)
                )
            self.expected |= history.go_to(number)
        self._compare(session, "rows")
        for table in TABLES:
            self._none(session, "verify", "SELECT * FROM zbxhist.verify('%s');" % table)
        if "amcheck" in self.scene.extensions:
            self._none(session, "amcheck", AMCHECK)
        if "pg_visibility" in self.scene.extensions:
            self._none(session, "visibility", VISIBILITY)

    def _compare(self, session, when):
        found = [line for line in self._ask(session, when, ROWS) if "|" in line]
        found = [line for line in found if clock_of(line) >= self.limit]
        expected = {line for line in self.expected if clock_of(line) >= self.limit}
        twice = [line for line, number in collections.Counter(found).items() if number > 1]
        for what, lines in (
            ("missing", expected.difference(found)),
            ("nobody's", set(found) - expected),
            ("double", twice),
        ):
            if lines:
                self.problems.append("%s: %s rows: %s" % (when, what, some(lines)))

    def _go_on(self, session):
        """The server must store values, refuse duplicates, merge and be maintained as
        before."""
        session.run("SET client_min_messages = error;")
        for table in TABLES:
            rows = [
                ((NEW_WRITER * 1000 + item, clock, 0), "1")
                for clock in (self.clock, self.clock - 2 * 3600, self.clock - 5 * 3600)
                for item in range(20)
            ]
            self._ask(session, "INSERT", insert(table, rows))
            self.expected |= {line_of(table, key, value) for key, value in rows}
            mine = [line for line in self.expected if line.startswith(table + "|")]
            for line in (max(mine, key=clock_of), mine[0]):
                key = tuple(map(int, line.split("|")[1:4]))
                if key[1] >= self.limit:
                    lines = session.run(insert(table, [(key, "1")]))
                    if not any("duplicate key" in each for each in lines):
                        self.problems.append("no duplicate: %s %s" % (line[:80], lines[:1]))
        self._ask(session, "maintenance", "CALL zbxhist.run_maintenance();")
        self._none(
            session,
            "check",
            "SELECT code, object, message FROM zbxhist.check() WHERE severity = 'error';",
        )
        self._none(
            session,
            "failed steps",
            "SELECT action, relation, sqlstate, message FROM zbxhist.maintenance_log"
            " WHERE started_at > now() - interval '10 minutes' AND sqlstate LIKE 'XX%';",
        )
        self._compare(session, "rows after maintenance")
