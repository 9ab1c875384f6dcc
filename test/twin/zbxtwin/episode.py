"""An episode: some hundred statements on new databases, each compared with the plain side."""

from collections import Counter

from .changes import Changer, Session
from .compare import difference
from .selects import Maker
from .server import MANAGED, PLAIN
from .statement import Statement, statement_of
from .tables import DAYS, TABLES, Dice
from .upkeep import Columns, Upkeep
from .wire import Connection, pump

# SQLSTATEs of maintenance beside open transactions, and of the settings above
UPKEEP_ERRORS = (
    "55P03",
    "55006",
    "55000",
    "42P01",
    "0A000",
    "57014",
    "40P01",
    "42P17",
    "22023",
    "42P07",
    "40001",
)
NODE = "Custom Scan ("
# statements sent before their answers are read
MOST_WAITING = 25


class Different(Exception):
    """The answers to a statement differ."""

    def __init__(self, statement, what, answers):
        super().__init__(what)
        self.statement, self.what, self.answers = statement, what, answers


class Pair:
    """The two sides of a session, and a session that maintains the managed side."""

    def __init__(self, server):
        self.server = server
        self.plain = Connection(*server.address, PLAIN)
        self.managed = Connection(*server.address, MANAGED)
        self.admin = Connection(*server.address, MANAGED)
        self.managed.execute("LOAD 'zbxhist'")
        for setting in (
            "client_min_messages = error",
            "zbxhist.maintenance_lock_timeout = '20ms'",
            "statement_timeout = '20s'",
            "lock_timeout = '100ms'",
        ):
            self.admin.execute(f"SET {setting}")
        for side in (self.plain, self.managed):
            side.execute("SET statement_timeout = '10min'")
            # a long OR with enable_seqscan = off would be JIT-compiled for half a minute
            side.execute("SET jit = off")
        self.is_disturbed = self.is_repeatable = self.is_archiving = False
        self.seen = Counter()

    def may_be_late(self):
        """May the transaction's snapshot be older than maintenance, or than an archived copy
        that it needs?"""
        is_open = self.plain.status != "I"
        return self.is_disturbed and (self.is_repeatable or self.is_archiving and is_open)

    def close(self):
        """Disconnects."""
        for connection in (self.plain, self.managed, self.admin):
            connection.close()

    def both(self, statements):
        """Sends statements to both sides and compares their answers."""
        for statement in statements:
            statement.send(self.plain, False)
            statement.send(self.managed, True)
        pump([self.plain, self.managed])
        for statement, plain, managed in zip(statements, self.plain.take(), self.managed.take()):
            self.seen[statement.kind] += 1
            if plain.error:
                self.seen[plain.error] += 1
            what = difference(
                statement,
                plain,
                managed,
                lambda s=statement: self.plain.execute(*s.unlimited),
            )
            if what:
                raise Different(statement, what, (plain, managed))

    def execute(self, statement):
        """Runs a statement.  If only the managed side may refuse it, a savepoint undoes it on
        both."""
        allowed = set(statement.allowed)
        if self.may_be_late():
            allowed.add("40001")
        if not allowed:
            self.both([statement])
        elif self.plain.status == "E":
            self.both([statement])
        elif statement.text == "COMMIT" and self.managed.execute(statement.text).error in allowed:
            # it reads the rest of cursors WITH HOLD
            self.seen["allowed 40001 of commit"] += 1
            self.plain.execute("ROLLBACK")
        elif statement.text == "COMMIT":
            self.plain.execute(statement.text)
        else:
            is_idle = self.plain.status == "I"
            guard = Statement("BEGIN" if is_idle else "SAVEPOINT guard", "guard")
            end = "COMMIT" if is_idle else "RELEASE guard"
            try:
                self.both([guard, statement])
            except Different as found:
                if found.answers[1].error not in allowed:
                    raise
                self.seen[f"allowed {found.answers[1].error} of {statement.kind}"] += 1
                # a cursor that failed cannot be read again
                is_whole = is_idle or statement.kind == "cursor"
                end = "ROLLBACK" if is_whole else "ROLLBACK TO guard"
            if self.plain.status == "E":
                end = "ROLLBACK" if is_idle else "ROLLBACK TO guard"
            self.both([Statement(end, "guard")])
        text = statement.text
        if text.startswith("BEGIN"):
            self.is_disturbed, self.is_repeatable = False, "ISOLATION" in text
        elif self.plain.status == "I":
            self.is_repeatable = False

    def maintain(self, managed, plain=None):
        """Runs a step of maintenance; some errors are differences."""
        answer = self.admin.execute(managed)
        self.seen[f"upkeep {managed.split('(')[0].split('.')[-1]} {answer.error or 'done'}"] += 1
        if answer.error and answer.error not in UPKEEP_ERRORS:
            raise Different(Statement(managed, "upkeep"), "maintenance failed", (answer, answer))
        if "verify(" in managed and not answer.error and answer.texts() != [["0"]]:
            raise Different(
                Statement(managed, "upkeep"), "verify found something", (answer, answer)
            )
        self.is_disturbed = True
        self.is_archiving = self.is_archiving or "zbxhist.archive(" in managed
        if plain and not answer.error:
            answer = self.plain.execute(plain)
            if answer.error:
                raise Different(
                    Statement(plain, "upkeep"), "the plain side failed", (answer, answer)
                )

    def play(self, entry):
        """Replays an entry of an episode's list."""
        if entry[0] == "upkeep":
            self.maintain(*entry[1:])
        else:
            self.execute(entry[1])

    def compare_tables(self):
        """Compares all rows, outside a transaction."""
        self.both([Statement(f"SELECT * FROM {name}", "contents") for name in TABLES])
        for name in TABLES:
            self.maintain(f"SELECT count(*) FROM zbxhist.verify('{name}')")


class Episode:
    """Statements determined by a seed and a number."""

    def __init__(self, server, seed, number, length, without=None):
        self.dice = Dice(seed, number)
        self.without = without
        self.length, self.count = length, 0
        self.list = []
        server.renew()
        self.pair = Pair(server)
        self.waiting = []
        # an episode uses some of the tables
        names = self.dice.some(list(TABLES), 2)
        self.tables = {name: TABLES[name].copy() for name in names}
        self.maker = Maker(self.dice, self.tables)
        # the day that may be archived, or None
        archived = DAYS[0] if self.dice.chance(25) and server.has_archive else None
        self.changer = Changer(self.dice, self.tables, self.maker, archived)
        self.session = Session(self.dice)
        self.upkeep = Upkeep(self.dice, self.tables, archived)
        self.columns = Columns(self.dice, self.tables)

    def add(self, statement):
        """Adds a statement for both sides; statements that can be pipelined are sent
        together."""
        if self.without and self.without.search(str(statement)):
            return
        self.list.append(("both", statement))
        self.count += 1
        pair = self.pair
        if statement.allowed or statement.kind in ("control", "alter") or pair.may_be_late():
            self.flush()
            pair.execute(statement)
            return
        self.waiting.append(statement)
        # the check of a LIMIT needs the same data
        if len(self.waiting) >= MOST_WAITING or statement.unlimited[0]:
            self.flush()

    def flush(self):
        """Sends the waiting statements."""
        waiting, self.waiting = self.waiting, []
        if waiting:
            self.pair.both(waiting)

    def disturb(self):
        """Runs a random step of maintenance."""
        self.flush()
        self.maintain(*self.upkeep.make(self.pair.plain.status == "I"))

    def maintain(self, *step):
        """Runs and lists a step of maintenance."""
        self.list.append(("upkeep", *step))
        self.pair.maintain(*step)

    def alter(self):
        """Adds or drops a column, outside transactions, because the generator must know the
        result."""
        self.flush()
        if self.pair.plain.status != "I":
            return
        statement, _, follow = self.columns.make()
        before = self.pair.seen.total()
        self.add(statement)
        if self.pair.seen.total() == before + 1:
            follow()

    def prepared(self):
        """Executes a prepared statement, with new or the same parameters."""
        pool, dice = self.session.prepared, self.dice
        if len(pool) < 5 or dice.chance(10):
            statement = self.maker.make(is_prepared=True)
            if statement.select is None or not statement.parameters or statement.unlimited[0]:
                return
            self.session.number += 1
            statement.name = f"p{self.session.number}"
            pool.append(statement)
            del pool[:-5]
        else:
            known = dice.pick(pool)
            statement = statement_of(known.select, [self.other(p) for p in known.given], known.name)
            statement.is_known = True
        self.add(statement)

    def other(self, parameter):
        """Another value of a parameter's kind."""
        if self.dice.chance(30) or not parameter.isdigit():
            return parameter
        number = int(parameter)
        if number < 100:
            return str(self.dice.between(0, 8))
        return str(max(0, number + self.dice.pick([-86400, -3600, -1, 1, 60, 86400])))

    def cursor(self):
        """Declares a cursor."""
        self.flush()
        if self.pair.plain.status != "T":
            return
        select = None
        while select is None:
            statement = self.maker.make()
            select = statement.select
            if (
                select is None
                or statement.parameters
                or statement.is_rough
                or select.locking
                or select.distinct.startswith("DISTINCT ON")
                # the plan decides whether a row that is never fetched is computed, and may
                # fail
                or any("/ nullif(" in t.sql for t in select.targets)
            ):
                select = None
            elif any(t.kind == "all" for t in select.targets):
                select = None
        select.order_totally()
        self.add(self.session.cursor(select))

    def explain(self, statement):
        """Counts the custom scans of a plan."""
        self.flush()
        if self.pair.managed.status != "I" or statement.parameters is not None:
            return
        answer = self.pair.managed.execute(
            "EXPLAIN (COSTS OFF) " + (statement.managed or statement.text)
        )
        for line in answer.texts():
            if line[0] and NODE in line[0]:
                self.pair.seen["plan " + line[0].split(NODE)[1].split(")")[0]] += 1
            elif line[0] and "Foreign Scan" in line[0]:
                self.pair.seen["plan Foreign Scan"] += 1

    def select(self):
        """Adds a statement that reads."""
        statement = self.maker.make()
        self.add(statement)
        if self.dice.chance(4):
            self.explain(statement)

    def change(self):
        """Adds a statement that writes."""
        statement = self.changer.make()
        self.add(statement)
        if self.dice.chance(4):
            self.explain(statement)

    def control(self):
        """Adds the beginning or end of a transaction."""
        self.flush()
        self.add(self.session.control(self.pair.plain.status))

    def end_failed(self):
        """Usually ends a failed transaction soon."""
        if self.pair.plain.status == "E" and self.dice.chance(70):
            self.control()

    def run(self):
        """Runs the whole episode."""
        steps = [
            (60, self.select),
            (16, self.change),
            (5, self.control),
            (4, self.disturb),
            (6, self.prepared),
            (4, self.cursor),
            (2, lambda: self.add(self.session.setting())),
            (0.4, self.alter),
        ]
        for step in self.upkeep.begin():
            self.maintain(*step)
        while self.count < self.length:
            self.dice.weighted(steps)()
            self.end_failed()
        self.flush()
        if self.pair.plain.status != "I":
            self.add(Statement("ROLLBACK", "control"))
        self.list.append(("contents",))
        self.pair.compare_tables()
