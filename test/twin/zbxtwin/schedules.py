"""Transactions of several sessions, with their statements in random order, beside maintenance.

A model predicts the answer of each statement: an UPDATE adds to the newest committed value and
misses no row, a SELECT sees its snapshot and its own changes, a key is stored once.  The server
is asked which statement waits, so the order does not depend on time.
"""

import itertools
import select
import time
from collections import Counter

from .server import ARCHIVE, MANAGED, PLAIN
from .tables import DAY, DAYS, HOUR, Dice, date
from .wire import Connection

TABLE = "history_uint"
LEVELS = ("READ COMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE")
# seconds after which others go on although maintenance, which sleeps at times, has not
# answered
PATIENCE = 0.03
# settings that make plans parallel
PARALLEL = (
    "parallel_setup_cost = 0",
    "parallel_tuple_cost = 0",
    "min_parallel_table_scan_size = 0",
    "min_parallel_index_scan_size = 0",
)


class Wrong(Exception):
    """An answer that contradicts the model."""


class Change:
    """A statement of a session: its text, and the rows that it is about."""

    def __init__(self, kind, text, where=None, delta=0, rows=()):
        self.kind, self.text, self.where = kind, text, where
        self.delta, self.rows = delta, rows


class Actor:
    """A session with a transaction, and its changes so far."""

    def __init__(self, name, connection, changes, is_weak):
        self.name, self.connection, self.changes = name, connection, list(changes)
        self.is_weak = is_weak
        self.is_busy = self.has_waited = False
        self.place = 0
        self.current = self.before = self.snapshot = None
        self.pending, self.marks = [], []
        # the possible results of a cursor, and the rows that it has returned
        self.choices, self.given = [], {}

    def own(self, rows):
        """Rows with the session's own changes."""
        rows = dict(rows)
        apply(rows, self.pending)
        return rows


def apply(rows, pending):
    """Applies changes to rows, which are a key's identity and value."""
    for key, row in pending:
        if row is None:
            rows.pop(key, None)
        elif row[0] is None:
            if key in rows:
                rows[key] = (rows[key][0], rows[key][1] + row[1])
        else:
            rows[key] = row


def rows_of(answer):
    """The rows of an answer: key to value."""
    return {tuple(map(int, row[:3])): int(row[3]) for row in answer.texts()}


def unlike(expected, found):
    """Keys whose values differ: the expected value, and the found one."""
    return {
        key: (expected.get(key), found.get(key))
        for key in sorted(set(expected) | set(found))
        if expected.get(key) != found.get(key)
    }


def sums(rows):
    """Count and sum of each item's values, in the form of a row."""
    totals = {}
    for key, value in rows.items():
        count, total = totals.get(key[0], (0, 0))
        totals[key[0]] = (count + 1, total + value)
    return {(item, 0, count): total for item, (count, total) in totals.items()}


class Schedule:
    """Two or three transactions and steps of maintenance, in random order."""

    def __init__(self, play, dice):
        self.play, self.dice, self.trace = play, dice, []
        self.dropped = None
        keys = sorted(play.rows)
        self.hot = [dice.pick(keys) for _ in range(4)] if keys else []
        self.hot.append(
            (dice.between(1, 4), dice.pick(DAYS) + dice.pick([0, 60, HOUR]), dice.pick([0, 7]))
        )
        level = [dice.pick(LEVELS) for _ in range(3)]
        self.actors = [
            Actor(f"s{i}", play.sessions[i], self.transaction(level[i]), level[i] == LEVELS[0])
            for i in range(dice.pick([2, 2, 3]))
        ]
        if play.is_managed:
            steps = [Change("upkeep", self.upkeep()) for _ in range(dice.pick([0, 1, 1, 2]))]
            self.actors.append(Actor("upkeep", play.admin, steps, True))

    def upkeep(self):
        """Returns a random step of maintenance."""
        day = self.dice.pick(self.hot)[1] // DAY * DAY
        day = min(max(day, DAYS[0]), DAYS[-1])
        if self.dice.chance(4):
            return f"ALTER TABLE {TABLE} ADD COLUMN x{self.play.new_identity()} integer DEFAULT 7"
        if self.dice.chance(1):
            return f"CALL zbxhist.undo('{TABLE}')"
        steps = ["pack", "repack", "compact", "unpack", "run_maintenance", "run_maintenance"]
        if self.play.archived and self.dice.chance(25):
            day = self.play.archived
        if self.play.archived == day:
            steps += ["archive", "archive", "archive", "unarchive"]
        is_dropping = self.dropped is None and self.dice.chance(4)
        step = "drop_day" if is_dropping else self.dice.pick(steps)
        when = "" if step == "run_maintenance" else f", '{date(day)}'"
        if step == "drop_day":
            self.dropped = day
            when += ", accept_deletion => true"
        return f"CALL zbxhist.{step}('{TABLE}'{when})"

    def is_open(self, key):
        """Is the row's state unknown, because its day is dropped in this schedule?  A snapshot
        may still have it or not."""
        return self.dropped is not None and self.dropped <= key[1] < self.dropped + DAY

    # ---- statements ----

    def transaction(self, level):
        """BEGIN, some statements, COMMIT or ROLLBACK; or single statements."""
        dice = self.dice
        changes = [self.statement() for _ in range(dice.between(1, 4))]
        if level == LEVELS[0] and dice.chance(25):
            return changes[:2]
        if dice.chance(30):
            self.add_cursor(changes)
        elif dice.chance(15):
            at = dice.below(len(changes))
            changes[at:at] = [Change("savepoint", "SAVEPOINT a")]
            changes.append(Change("back", "ROLLBACK TO a"))
            changes.append(self.statement())
        end = "COMMIT" if dice.chance(85) else "ROLLBACK"
        return [Change("begin", f"BEGIN ISOLATION LEVEL {level}"), *changes, Change("end", end)]

    def add_cursor(self, changes):
        """A cursor that is read in parts, with other statements in between."""
        dice = self.dice
        text, where = self.reading()
        order = dice.pick(
            ["", " ORDER BY clock", " ORDER BY clock DESC", " ORDER BY itemid, clock, ns"]
        )
        at = dice.below(len(changes) + 1)
        changes.insert(at, Change("declare", f"DECLARE c CURSOR FOR {text}{order}", where))
        for _ in range(dice.below(3)):
            at = dice.between(at + 1, len(changes))
            changes.insert(at, Change("fetch", f"FETCH {dice.pick([1, 5, 60])} FROM c", where))
        changes.append(Change("fetch", "FETCH ALL FROM c", where))

    def reading(self):
        """A SELECT of the rows of some items, or of all, and a function that says which."""
        dice = self.dice
        text, where = self.where()
        item, clock, _ = dice.pick(self.hot)
        low = clock // DAY * DAY - dice.pick([0, DAY])
        high = min(low + dice.pick([DAY, 2 * DAY, 9 * DAY]), 2**31 - 1)
        choice = dice.below(6)
        if choice == 1:
            text, where = f"itemid = {item}", lambda key: key[0] == item
        elif choice == 2:
            text, where = f"clock >= {low} AND clock < {high}", lambda key: low <= key[1] < high
        elif choice == 3:
            text, where = "true", lambda key: True
        elif choice == 4 and self.play.is_managed:
            return (
                f"SELECT itemid, clock, ns, value FROM zbxhist.range(NULL::{TABLE}, {item}, {low}, {high})",
                lambda key: key[0] == item and low <= key[1] < high,
            )
        return f"SELECT itemid, clock, ns, value FROM {TABLE} WHERE {text}", where

    def where(self):
        """A condition, and a function that says the same of a key."""
        dice = self.dice
        item, clock, ns = dice.pick(self.hot)
        choice = dice.below(5)
        if choice < 2:
            return (
                f"itemid = {item} AND clock = {clock} AND ns = {ns}",
                lambda key: key == (item, clock, ns),
            )
        if choice == 2:
            return f"itemid = {item} AND clock = {clock}", lambda key: key[:2] == (item, clock)
        if choice == 3:
            high = clock + dice.pick([60, HOUR])
            return (
                f"itemid = {item} AND clock BETWEEN {clock} AND {high}",
                lambda key: key[0] == item and clock <= key[1] <= high,
            )
        return f"clock = {clock} AND itemid < 5", lambda key: key[1] == clock and key[0] < 5

    def statement(self):
        """A statement that reads or changes."""
        dice = self.dice
        text, where = self.where()
        choice = dice.below(12)
        if choice < 5:
            delta = dice.between(1, 1000)
            sql = f"UPDATE {TABLE} SET value = value + {delta} WHERE {text} RETURNING itemid, clock, ns, value"
            return Change("update", sql, where, delta)
        if choice < 7:
            return Change(
                "delete",
                f"DELETE FROM {TABLE} WHERE {text} RETURNING itemid, clock, ns, value",
                where,
            )
        if choice < 9:
            keys = [dice.pick(self.hot)]
            if self.play.archived == keys[0][1] // DAY * DAY:
                # an INSERT does not check for duplicates in an archived day
                keys[0] = (*keys[0][:2], dice.between(10**8, 10**9 - 1))
            if dice.chance(50):
                keys.append((keys[0][0], keys[0][1], dice.between(1, 10**8)))
            rows = [(key, dice.between(0, 1000)) for key in keys]
            values = ", ".join(f"({k[0]}, {k[1]}, {k[2]}, {v})" for k, v in rows)
            return Change(
                "insert",
                f"INSERT INTO {TABLE} (itemid, clock, ns, value) VALUES {values}",
                rows=rows,
            )
        if choice == 9:
            lock = dice.pick(["FOR UPDATE", "FOR SHARE"])
            return Change(
                "lock", f"SELECT itemid, clock, ns, value FROM {TABLE} WHERE {text} {lock}", where
            )
        text, where = self.reading()
        if dice.chance(30):
            if dice.chance(20):
                sums = f"SELECT itemid, 0, count(*), sum(value) FROM ({text}) t"
            else:
                sums = text.replace("itemid, clock, ns, value", "itemid, 0, count(*), sum(value)")
            return Change("sums", f"{sums} GROUP BY itemid", where)
        return Change("select", text, where)

    # ---- the order ----

    def run(self):
        """Sends statements one by one until all have ended."""
        while True:
            ready = [a for a in self.actors if not a.is_busy and a.changes]
            if ready:
                self.send(self.dice.pick(ready))
            elif not any(a.is_busy for a in self.actors):
                return
            self.settle(is_any=not ready)

    def send(self, actor):
        """Sends the actor's next statement."""
        change = actor.current = actor.changes.pop(0)
        if actor.snapshot is None or actor.is_weak:
            actor.before = dict(self.play.rows)
            if change.kind not in ("begin", "savepoint", "back", "end", "upkeep"):
                actor.snapshot = actor.before
        else:
            actor.before = actor.snapshot
        actor.has_waited, actor.is_busy, actor.place = False, True, len(self.trace)
        actor.connection.send(change.text)
        self.trace.append([actor.name, change.text, "..."])
        change.line = self.trace[-1]

    def settle(self, is_any):
        """Waits until each session has answered or waits for another session; if nobody can go
        on, until any has answered."""
        since, order = time.time(), []
        while True:
            waiting = [a for a in self.actors if a.is_busy and not a.connection.answers]
            self.read(waiting, 0.002)
            waiting = [a for a in waiting if not a.connection.answers]
            waits_for = self.play.waits_for() if waiting else {}
            running = []
            for actor in waiting:
                others = waits_for[actor.connection.pid]
                actor.has_waited = actor.has_waited or bool(others)
                # maintenance gives up its lock by itself, so a session that waits for it is
                # not blocked
                if not others or actor.name != "upkeep" and self.play.admin.pid in others:
                    running.append(actor)
            if all(a.name == "upkeep" and time.time() - since > PATIENCE for a in running):
                order = [a for a in self.actors if a.connection.answers]
                if order or not is_any:
                    break
            if time.time() - since > 600:
                raise Wrong("no answer within ten minutes")

        # a session that waited has ended after those that it waited for; of two that were
        # unblocked together, a failed INSERT came before the DELETE of its key, a
        # successful one after it
        def rank(actor):
            is_insert, error = actor.current.kind == "insert", actor.connection.answers[0].error
            return actor.has_waited, 1 if not is_insert else 0 if error else 2, actor.place

        answers = [(actor, actor.connection.take()[0]) for actor in sorted(order, key=rank)]
        for actor, _ in answers:
            actor.is_busy = False
        self.answered_together(answers)

    def answered_together(self, answers):
        """Checks answers that arrived together, in this order, or with the sessions that waited
        in any order."""
        ready = [a for a in answers if not a[0].has_waited]
        waited, first = [a for a in answers if a[0].has_waited], None
        for order in itertools.permutations(waited):
            rows = dict(self.play.rows)
            actors = [
                (
                    a,
                    list(a.changes),
                    list(a.pending),
                    list(a.marks),
                    a.snapshot,
                    a.choices,
                    dict(a.given),
                )
                for a in self.actors
            ]
            try:
                for actor, answer in [*ready, *order]:
                    self.answered(actor, answer)
                return
            except Wrong as wrong:
                first = first or wrong
            self.play.rows = rows
            for actor, changes, pending, marks, snapshot, choices, given in actors:
                actor.changes, actor.pending = changes, pending
                actor.marks, actor.snapshot = marks, snapshot
                actor.choices, actor.given = choices, given
        raise first

    def read(self, actors, seconds):
        """Reads what has arrived."""
        connections = [a.connection for a in actors]
        for connection in connections:
            while connection.unsent:
                connection.write_some()
        if connections:
            for connection in select.select(connections, [], [], seconds)[0]:
                connection.read_some()

    # ---- the model ----

    def answered(self, actor, answer):
        """Checks an answer, and applies its changes to the model."""
        change, play = actor.current, self.play
        change.line[2] = (
            answer.error
            or f"{answer.tag} {rows_of(answer) if answer.rows and change.where else ''}"
        )
        kind = change.kind
        if kind == "upkeep":
            kind = change.text.split("(")[0].split(".")[-1].split(" x")[0]
        play.seen[f"{kind} {answer.error or 'done'}"] += 1
        if actor.has_waited:
            play.seen[f"{change.kind} waited"] += 1
        if change.kind == "upkeep":
            if answer.error and answer.error[:2] in ("XX", "22", "23"):
                raise Wrong(f"maintenance: {answer.error} {answer.message}")
            if ".undo(" in change.text and not answer.error:
                play.is_undone = True
            return
        if answer.error:
            self.failed(actor, answer)
        elif change.kind == "savepoint":
            actor.marks.append(len(actor.pending))
        elif change.kind == "back":
            del actor.pending[actor.marks[-1] :]
        elif change.kind == "end":
            if answer.tag == "COMMIT":
                apply(play.rows, actor.pending)
            self.forget(actor)
        elif change.kind == "declare":
            self.declared(actor)
        elif change.kind == "fetch":
            self.check_fetched(actor, rows_of(answer), len(answer.rows))
        elif change.where:
            self.check_rows(actor, rows_of(answer))
        elif change.kind == "insert":
            self.check_insert(actor)
        if answer.status == "I" and change.kind != "end":
            apply(play.rows, actor.pending)
            self.forget(actor)

    def forget(self, actor):
        """Ends the transaction in the model."""
        actor.pending, actor.marks, actor.snapshot = [], [], None

    def failed(self, actor, answer):
        """Checks that an error is possible."""
        change, rows = actor.current, actor.own(self.play.rows)
        if answer.error == "23505" and change.kind == "insert":
            if not any(key in rows or self.is_open(key) for key, _ in change.rows):
                # it waited for another transaction with the same key, which has not ended
                # in the model
                raise Wrong("23505, and no such key is there")
        elif answer.error == "40001":
            may_be = self.play.archived or self.play.is_managed and actor.has_waited
            if actor.is_weak and not may_be:
                raise Wrong(f"40001 at READ COMMITTED: {answer.message}")
        elif answer.error == "0A000" and change.kind == "lock" and self.play.is_managed:
            pass
        elif answer.error == "42P17" and any(".undo(" in line[1] for line in self.trace):
            pass
        # like any function that returns a table's rows if the table has been altered since
        elif answer.error == "42804" and any("ADD COLUMN" in line[1] for line in self.trace):
            pass
        elif answer.error != "40P01":
            raise Wrong(f"{answer.error} {answer.message}")
        is_open = any(c.kind == "end" for c in actor.changes)
        if is_open and answer.status == "E":
            actor.changes = [Change("end", "ROLLBACK")]
        actor.pending = []
        if answer.status == "I":
            self.forget(actor)

    def doubles(self, actor):
        """Keys that a transaction has inserted although its snapshot has them, because others
        have deleted them since."""
        return {key for key, row in actor.pending if row and row[0] and key in actor.before}

    def declared(self, actor):
        """Computes what a cursor must return."""
        change = actor.current
        before, now = actor.own(actor.before), actor.own(self.play.rows)
        actor.choices, actor.given = [self.expected(change, before, now)], {}
        if actor.is_weak and actor.has_waited and self.play.is_managed:
            actor.choices.append(self.expected(change, now, now))

    def check_fetched(self, actor, found, number):
        """Checks rows of a cursor: each once, and at the end all of them."""
        if self.doubles(actor):
            return
        if len(found) != number or any(key in actor.given for key in found):
            raise Wrong(f"a cursor gives a row twice: {found}")
        actor.given.update(found)
        given = self.known(actor.given)
        choices = [c for c in map(self.known, actor.choices) if given.items() <= c.items()]
        if actor.current.text.startswith("FETCH ALL"):
            choices = [c for c in choices if c == given]
        if not choices:
            wrong = [unlike(c, given) for c in map(self.known, actor.choices)]
            raise Wrong(f"a cursor has not given what it was to give (model, cursor): {wrong}")

    def check_rows(self, actor, found):
        """Checks the rows of SELECT, UPDATE, DELETE."""
        change = actor.current
        doubles = self.doubles(actor)
        if change.kind == "sums" and (self.dropped is not None or doubles):
            return
        before, now = actor.own(actor.before), actor.own(self.play.rows)
        # if it waited for a lock before it took its snapshot, it sees what was committed
        # meanwhile
        if actor.is_weak and actor.has_waited and self.play.is_managed:
            if self.known(found) == self.expected(change, now, now):
                before = now
        wrong = unlike(self.expected(change, before, now), self.known(found))
        # a SELECT returns both rows of such a key
        if change.kind == "select":
            wrong = {key: values for key, values in wrong.items() if key not in doubles}
        if wrong:
            raise Wrong(f"{change.kind} gives other rows (model, answer): {wrong}")
        for key in found:
            if change.kind == "update":
                actor.pending.append((key, (None, change.delta)))
            elif change.kind == "delete":
                actor.pending.append((key, None))

    def expected(self, change, before, now):
        """The rows that a statement returns, from those of its snapshot and the present
        ones."""
        if change.kind in ("select", "sums", "declare"):
            expected = {key: row[1] for key, row in before.items() if change.where(key)}
        else:
            # rows of the snapshot that were not deleted since, with their newest values
            expected = {
                key: now[key][1] + change.delta
                for key, row in before.items()
                if change.where(key) and key in now and now[key][0] == row[0]
            }
        return sums(self.known(expected)) if change.kind == "sums" else self.known(expected)

    def known(self, rows):
        """Leaves out rows whose state is unknown."""
        return {key: value for key, value in rows.items() if not self.is_open(key)}

    def check_insert(self, actor):
        """Checks that a key is stored once."""
        rows = actor.own(self.play.rows)
        for key, value in actor.current.rows:
            if key in rows and not self.is_open(key):
                raise Wrong(f"key {key} is there already")
            actor.pending.append((key, (self.play.new_identity(), value)))


class Play:
    """Runs schedules one after the other in one database."""

    def __init__(self, server, seed, number, is_managed):
        self.is_managed, self.seen, self.identities = is_managed, Counter(), 0
        self.is_undone = False
        self.dice = Dice(seed, "schedules", number)
        server.renew()
        name = MANAGED if is_managed else PLAIN
        self.sessions = [Connection(*server.address, name) for _ in range(3)]
        self.admin, self.control = Connection(*server.address, name), Connection(
            *server.address, name
        )
        for connection in [*self.sessions, self.admin]:
            connection.execute("SET deadlock_timeout = '150ms'")
            if is_managed:
                connection.execute("LOAD 'zbxhist'")
        for setting in (
            "zbxhist.maintenance_lock_timeout = '20ms'",
            "lock_timeout = '100ms'",
            "client_min_messages = error",
        ):
            self.admin.execute(f"SET {setting}")
            if connection is not self.admin and self.dice.chance(20):
                for setting in PARALLEL:
                    connection.execute(f"SET {setting}")
        # the day that may be archived, or None
        may_archive = is_managed and self.dice.chance(30) and server.has_archive
        self.archived = DAYS[0] if may_archive else None
        if self.archived:
            self.admin.execute(
                f"SELECT zbxhist.alter_parent('{TABLE}', archive_server => '{ARCHIVE}')"
            )
        if self.dice.chance(50):
            self.admin.execute(f"CALL zbxhist.pack('{TABLE}', '{date(DAYS[2])}')")
        answer = self.control.execute(f"SELECT itemid, clock, ns, value FROM {TABLE}")
        self.rows = {key: (self.new_identity(), value) for key, value in rows_of(answer).items()}
        self.pids = ",".join(str(c.pid) for c in [*self.sessions, self.admin])

    def new_identity(self):
        """Returns a new number for a row."""
        self.identities += 1
        return self.identities

    def waits_for(self):
        """For each process, those that it waits for, directly or indirectly."""
        answer = self.control.execute(
            "WITH RECURSIVE waits (pid, other) AS ("
            f"SELECT p, unnest(pg_blocking_pids(p)) FROM unnest('{{{self.pids}}}'::integer[]) p "
            "UNION SELECT w.pid, unnest(pg_blocking_pids(w.other)) FROM waits w) "
            f"SELECT p, array_to_string(ARRAY(SELECT other FROM waits WHERE pid = p), ' ') FROM unnest('{{{self.pids}}}'::integer[]) p"
        )
        return {
            int(pid): {int(other) for other in others.split()} for pid, others in answer.texts()
        }

    def compare(self, schedule):
        """The stored rows must be the model's."""
        stored = self.control.execute(f"SELECT itemid, clock, ns, value FROM {TABLE}")
        if len(stored.rows) != len(rows_of(stored)):
            raise Wrong("a key is stored twice")
        found, expected = rows_of(stored), {key: row[1] for key, row in self.rows.items()}
        if schedule.dropped is not None:
            for key in filter(schedule.is_open, set(found) | set(expected)):
                self.rows.pop(key, None)
                expected.pop(key, None)
                if key in found:
                    self.rows[key] = (self.new_identity(), found[key])
                    expected[key] = found[key]
        if wrong := unlike(expected, found):
            raise Wrong(f"stored is what the model has not (model, table): {wrong}")
        if self.is_managed and not self.is_undone:
            answer = self.control.execute(f"SELECT * FROM zbxhist.verify('{TABLE}')")
            if answer.error or answer.rows:
                raise Wrong(f"verify: {answer.describe()}")

    def run(self, number):
        """Runs a number of schedules; returns a description of what is wrong, or None."""
        for at in range(number):
            schedule = Schedule(self, self.dice)
            try:
                schedule.run()
                self.compare(schedule)
            except Wrong as wrong:
                lines = [f"schedule {at}: {wrong}"] + [
                    "  %-7s %s  -- %s" % tuple(line) for line in schedule.trace
                ]
                return "\n".join(lines)
            self.seen["schedules"] += 1
            if self.is_undone:
                break
        return None

    def close(self):
        """Disconnects."""
        for connection in [*self.sessions, self.admin, self.control]:
            connection.close()
