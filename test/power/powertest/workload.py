"""The work of a recorded server, and a journal of what was sent to it and acknowledged."""

import random
import threading
import time

from .server import Lost

TABLES = {"history": "double precision", "history_uint": "numeric(20)", "history_text": "text"}

SCHEMA = """
SET client_min_messages = error;
CREATE EXTENSION zbxhist;
{extensions}
CREATE TABLE progress (writer integer PRIMARY KEY, number integer);
{tables}
SELECT zbxhist.create_parent('history', '1 hour', retention => '9 hours', premake => 2, pack_after => '1 hour');
SELECT zbxhist.create_parent('history_uint', '1 hour', retention => '9 hours', premake => 2, pack_after => '1 hour');
SELECT zbxhist.create_parent('history_text', '1 hour', retention => '9 hours', premake => 2, pack_after => '1 hour');
"""

TABLE = """
CREATE TABLE {0} (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value {1} NOT NULL,
    ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid, clock, ns));
"""

ITEMS_OF_A_WRITER = 200
RETENTION = 9 * 3600
# transactions of a writer in an hour of the servers' clock
TRANSACTIONS = 6


EXTENSIONS = ("amcheck", "pg_visibility")


def schema(extensions):
    return SCHEMA.format(
        extensions="".join("CREATE EXTENSION %s;" % name for name in extensions),
        tables="".join(TABLE.format(*each) for each in TABLES.items()),
    )


def value_of(table, chance):
    """A random value in PostgreSQL's output form."""
    if table == "history":
        return "%.15g" % (chance.randrange(1, 2 ** chance.choice((4, 12, 30))) / 8)
    if table == "history_uint":
        return str(chance.randrange(chance.choice((10, 1000, 2**64))))
    if chance.random() < 0.003:
        # too long to be stored inline
        return "%x" % chance.getrandbits(4 * 9000)
    return chance.choice(("up", "down", "%x" % chance.getrandbits(4 * chance.randrange(1, 200))))


def insert(table, rows):
    """An INSERT as Zabbix writes it; rows are pairs of key and value."""
    quote = "'%s'" if table == "history_text" else "%s"
    return "INSERT INTO %s (itemid,clock,ns,value) VALUES %s;" % (
        table,
        ",".join("(%d,%d,%d,%s)" % (*key, quote % value) for key, value in rows),
    )


class Attempt:
    """A transaction: when it was sent, when it was acknowledged, and its changes: the old and
    the new value for each table and key; None is no row."""

    def __init__(self, number, sent, changes):
        self.number = number
        self.sent = sent
        self.changes = changes
        self.acknowledged = None


class Worker(threading.Thread):
    """A thread that works in sessions, one after the other."""

    def __init__(self, scene, name):
        super().__init__(name=name)
        self.scene = scene
        self.chance = random.Random("%s %s" % (scene.seed, name))
        self.session = None
        self.problem = None
        self.counts = {}

    def count(self, what, number=1):
        self.counts[what] = self.counts.get(what, 0) + number

    def run(self):
        try:
            while not self.scene.over.is_set():
                try:
                    self.session = self.scene.server.session()
                    self.session.run("SET client_min_messages = error;")
                    self.prepare()
                    while not self.scene.over.is_set():
                        self.step()
                except Lost:
                    # try again until the server is back
                    time.sleep(0.1)
        except Exception as problem:
            self.problem = problem
            self.scene.over.set()

    def prepare(self):
        """Prepares a new session."""


class Writer(Worker):
    """Writes values of its own items; it knows from its transactions alone what is stored."""

    def __init__(self, scene, number):
        super().__init__(scene, "writer %d" % number)
        self.number = number
        self.rows = {table: {} for table in TABLES}
        self.attempts = []
        self.pending = None

    def prepare(self):
        """Finds out after a crash whether the last transaction was committed.  The last ones
        with synchronous_commit = off may be lost."""
        for line in self.session.run("SELECT gid FROM pg_prepared_xacts;"):
            if line.startswith("%d " % self.number):
                self.session.run("COMMIT PREPARED '%s';" % line)
        answer = self.session.run("SELECT number FROM progress WHERE writer = %d;" % self.number)
        number = int(answer[0]) if answer else 0
        if self.pending is not None and number == self.pending.number:
            self.succeed(self.pending, True)
        while len(self.attempts) > number and self.attempts[-1].acknowledged is None:
            for (table, key), (old, _) in self.attempts.pop().changes.items():
                if old is None:
                    del self.rows[table][key]
                else:
                    self.rows[table][key] = old
        if len(self.attempts) != number:
            raise RuntimeError("%s: %d transactions after a crash" % (self.name, number))
        self.pending = None

    def step(self):
        if self.counts.get("transactions", 0) >= TRANSACTIONS * len(self.scene.leads):
            self.scene.over.wait(0.05)
            return
        changes, statements = {}, []
        for _ in range(self.chance.choice((1, 1, 2))):
            statements.append(self.statement(self.chance.choice(list(TABLES)), changes))
        attempt = Attempt(len(self.attempts) + 1, self.scene.time(), changes)
        self.pending = attempt
        statements.append(
            "INSERT INTO progress VALUES (%d, %d)"
            " ON CONFLICT (writer) DO UPDATE SET number = excluded.number;"
            % (self.number, attempt.number)
        )
        synchronous, how = self.chance.choices(
            (
                (True, "COMMIT"),
                (False, "COMMIT"),
                (True, "ROLLBACK"),
                (True, "PREPARE TRANSACTION"),
            ),
            (80, 8, 5, 7),
        )[0]
        begin = "BEGIN; SET LOCAL synchronous_commit = %s;" % ("on" if synchronous else "off")
        name = "%d %d" % (self.number, attempt.number)
        end = how + (" '%s';" % name if how.startswith("PREPARE") else ";")
        lines = self.session.run("\n".join((begin, *statements, end)))
        if lines[-1] == how and how != "ROLLBACK":
            self.succeed(attempt, synchronous)
            if how.startswith("PREPARE"):
                self.session.run("COMMIT PREPARED '%s';" % name)
                self.count("two-phase commits")
        else:
            self.count("transactions rolled back")
            for line in lines:
                if "ERROR" in line and "duplicate key" not in line and "is aborted" not in line:
                    self.count(line[:150])
        self.pending = None
        self.scene.over.wait(self.chance.random() * self.scene.pause)

    def succeed(self, attempt, synchronous):
        if synchronous:
            attempt.acknowledged = self.scene.time()
        self.attempts.append(attempt)
        self.pending = None
        self.count("transactions")
        for (table, key), (_, new) in attempt.changes.items():
            if new is None:
                del self.rows[table][key]
            else:
                self.rows[table][key] = new
                self.count("values")

    def clock(self):
        now = self.scene.clock()
        back = self.chance.random()
        if back < 0.93:
            return now - self.chance.randrange(60)
        return now - self.chance.randrange(2 * 3600 if back < 0.96 else RETENTION - 7200)

    def statement(self, table, changes):
        """Returns a random statement, and adds its changes to those of the transaction."""
        rows = self.rows[table]
        touched = {key for each, key in changes if each == table}
        if self.chance.random() < 0.08 and rows:
            # any row that retention does not drop meanwhile
            limit = self.scene.clock() - RETENTION + 7200
            keys = self.chance.sample(list(rows), min(10, len(rows)))
            keys = [key for key in keys if key[1] > limit and key not in touched]
            if keys:
                return self.change(table, keys[: self.chance.choice((1, 5))], changes)
        count = self.chance.choice((1, 5, 20, 100, 100, 300))
        items = range(self.number * 1000, self.number * 1000 + ITEMS_OF_A_WRITER)
        new = {}
        for item in sorted(self.chance.choices(items, k=count)):
            key = (item, self.clock(), self.chance.randrange(10**9))
            new[key] = value_of(table, self.chance)
            changes[table, key] = (None, new[key])
        rows_to_store = list(new.items())
        if self.chance.random() < 0.03 and rows:
            # a duplicate fails the whole transaction, so its changes do not count
            rows_to_store.append((self.chance.choice(list(rows)), value_of(table, self.chance)))
            limit = self.scene.clock() - RETENTION + 7200
            if rows_to_store[-1][0][1] <= limit:
                rows_to_store.pop()
        return insert(table, rows_to_store)

    def change(self, table, keys, changes):
        rows = self.rows[table]
        sql = []
        for key in keys:
            where = "WHERE itemid = %d AND clock = %d AND ns = %d" % key
            if self.chance.random() < 0.5:
                changes[table, key] = (rows[key], None)
                sql.append("DELETE FROM %s %s;" % (table, where))
            else:
                value = value_of(table, self.chance)
                changes[table, key] = (rows[key], value)
                sql.append("UPDATE %s SET value = '%s' %s;" % (table, value, where))
        self.count("rows changed", len(keys))
        return "\n".join(sql)


class Checkpointer(Worker):
    """Runs checkpoints, often enough to meet everything, with pauses that leave work to other
    processes."""

    def step(self):
        self.session.run("CHECKPOINT;")
        self.count("checkpoints")
        if self.scene.level == "logical":
            self.session.run(
                "SELECT pg_replication_slot_advance('slot', pg_current_wal_insert_lsn());"
            )
        self.scene.over.wait(self.chance.random() * self.chance.choice((0, 0.3, 4)))


class Maintainer(Worker):
    """Moves the clock over hours: their partitions are packed, compacted, rewritten,
    dropped."""

    def prepare(self):
        self.session.run("SET zbxhist.maintenance_lock_timeout = '2s';")

    def say(self, what, sql):
        lines = self.session.run(sql)
        self.count(what)
        for line in lines:
            if "ERROR" in line:
                self.count("%s: %s" % (what, line[:150]))
        return lines

    def step(self):
        self.say("maintenance runs", "CALL zbxhist.run_maintenance();")
        chance = self.chance.random()
        if chance < 0.3:
            self.by_hand("repack")
        elif chance < 0.4:
            self.by_hand("unpack")
        elif chance < 0.5:
            self.say("vacuums", "VACUUM;")
        self.scene.jump(3600)
        self.count("hours")
        if len(self.scene.leads) > self.scene.hours:
            self.scene.over.set()

    def by_hand(self, call):
        days = self.session.run(
            "SELECT DISTINCT format('CALL zbxhist.%s(%%L, %%L)', parent, (from_time AT TIME ZONE 'UTC')::date)"
            " FROM zbxhist.partitions WHERE kind = 'packed' ORDER BY 1;" % call
        )
        if days:
            self.say(call, self.chance.choice(days) + ";")


class Watcher(Worker):
    """Watches which files packed days have, and when these were committed."""

    def __init__(self, scene):
        super().__init__(scene, "watcher")
        self.seen = {}

    def step(self):
        asked = self.scene.time()
        lines = self.session.run("SELECT pg_relation_filepath(day) FROM zbxhist.packed_day;")
        answered = self.scene.time()
        for line in filter(None, lines):
            self.seen[line] = (self.seen.get(line, (answered,))[0], asked)
        self.scene.over.wait(0.05)
