"""The workers that read and compare."""

from .worker import TABLES, Worker
from .writers import ITEMS

CHECKSUM = (
    "SELECT count(*), coalesce(sum(hashtextextended(ROW(itemid, clock, ns, value)::text, 0)::numeric), 0)"
    " FROM %s WHERE clock >= %d"
)


class Comparer(Worker):
    """Compares whole tables in one snapshot."""

    level = "REPEATABLE READ"

    def prepare(self):
        self.run("SET statement_timeout = '5min'")

    def step(self):
        self.attempt("comparisons", self.compare, self.random.choice(TABLES))
        self.pause(self.plan.pause * 10)

    def compare(self, table):
        horizon = self.horizon()
        managed, plain = CHECKSUM % (table, horizon), CHECKSUM % ("plain_" + table, horizon)
        if self.level == "READ COMMITTED":
            rows = self.run("SELECT * FROM (%s) m, (%s) p" % (managed, plain))[0]
            rows = rows[:2], rows[2:]
        else:
            self.run("BEGIN ISOLATION LEVEL %s READ ONLY" % self.level)
            rows = [
                self.run(query)[0]
                for query in ((managed, plain) if self.random.random() < 0.5 else (plain, managed))
            ]
            self.run("COMMIT")
        if rows[0] != rows[1]:
            self.differ(horizon, "%s, %s, from %d: %s and %s" % (table, self.level, horizon, *rows))
        self.tally.add("rows compared", int(rows[0][0]))


class CommittedComparer(Comparer):
    level = "READ COMMITTED"


class SerializableComparer(Comparer):
    level = "SERIALIZABLE"


class RandomReader(Worker):
    """Runs random SELECTs on both tables in one snapshot; they must return the same rows."""

    def prepare(self):
        self.run("SET statement_timeout = '5min'")
        if self.random.random() < 0.5:
            self.run("LOAD 'zbxhist'")

    def step(self):
        self.attempt("random SELECTs", self.compare)
        self.pause(self.plan.pause)

    def clocks(self):
        begin = self.random.randrange(self.horizon(), self.now())
        # half of them in the hours that are being written
        if self.random.random() < 0.5:
            begin = self.now() - self.random.randrange(7200)
        return self.random.choice(
            (
                "clock >= %d" % begin,
                "clock > %d AND clock <= %d" % (begin, begin + 3600),
                "clock BETWEEN %d AND %d" % (begin, begin + 90000),
                "clock = %d" % begin,
                "clock >= %d AND clock < %d AND ns > 500000000" % (begin, begin + 7000),
            )
        )

    def items(self):
        item = self.random.randrange(ITEMS + 5)
        return self.random.choice(
            (
                "itemid = %d" % item,
                "itemid IN (%d, %d, %d)" % (item, item + 7, item * 2),
                "itemid = ANY (ARRAY[%d, %d])" % (item, item + 1),
                "itemid BETWEEN %d AND %d" % (item, item + 3),
                "itemid %% 100 = %d" % (item % 100),
                "itemid IN (SELECT generate_series(%d, %d))" % (item, item + 3),
                "true",
            )
        )

    def query(self, table):
        values = {
            "history": "value > 0.5",
            "history_uint": "value < 500",
            "history_text": "value LIKE 'it%'",
        }[table]
        where = "clock >= %d AND %s AND %s" % (self.horizon(), self.items(), self.clocks())
        if self.random.random() < 0.3:
            where += " AND " + values
        shape = self.random.choice(
            (
                "SELECT itemid, clock, ns, value FROM {t} WHERE {w}",
                "SELECT itemid, clock, value, ns FROM {t} WHERE {w} ORDER BY clock DESC, ns DESC, itemid LIMIT 5",
                "SELECT itemid, clock, value, ns FROM {t} WHERE {w} ORDER BY itemid, clock, ns LIMIT 7 OFFSET 2",
                "SELECT itemid, count(*), min(clock), max(ns), max(value) FROM {t} WHERE {w} GROUP BY itemid",
                "SELECT DISTINCT itemid FROM {t} WHERE {w}",
                "SELECT DISTINCT ON (itemid) itemid, clock, ns, value FROM {t} WHERE {w} ORDER BY itemid, clock DESC, ns DESC",
                "SELECT clock / 3600, count(*) FROM {t} WHERE {w} GROUP BY 1",
                "SELECT count(*) FROM {t} a JOIN {t} b USING (itemid, clock) WHERE a.itemid = %d"
                % self.random.randrange(ITEMS)
                + " AND a.clock >= %d" % self.horizon(),
                "SELECT i, l.* FROM generate_series(1, 400, 57) i, LATERAL (SELECT clock, ns, value FROM {t} WHERE itemid = i"
                " AND clock >= %d ORDER BY clock DESC, ns DESC LIMIT 2) l" % self.horizon(),
                "SELECT max(clock), min(clock), count(*) FROM {t} WHERE {w}",
                "SELECT row_number() OVER (PARTITION BY itemid ORDER BY clock, ns), value FROM {t} WHERE {w}",
            )
        )
        return shape.replace("{w}", where)

    def compare(self):
        table, horizon = self.random.choice(TABLES), self.horizon()
        query = self.query(table)
        self.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        managed, plain = (
            sorted(map(repr, self.run(query.replace("{t}", name).replace("%", "%%"), ())))
            for name in (table, "plain_" + table)
        )
        if managed != plain:
            self.differ(
                horizon,
                "%s: %d rows and %d: %s"
                % (query, len(managed), len(plain), sorted(set(managed) ^ set(plain))[:3]),
            )
        if table == "history":
            self.compare_functions(horizon)
        self.run("COMMIT")
        self.tally.add("rows read", len(managed))

    def compare_functions(self, horizon):
        """Compares the functions with SQL on the plain table."""
        item = self.random.randrange(1, ITEMS)
        begin = self.random.randrange(self.horizon(), self.now())
        if self.random.random() < 0.5:
            begin = self.now() - self.random.randrange(7200)
        end = begin + self.random.randrange(100000)
        for function, sql in (
            (
                "SELECT itemid, clock, value, ns FROM zbxhist.range(NULL::history, %d, %d, %d)"
                % (item, begin, end),
                "SELECT itemid, clock, value, ns FROM plain_history WHERE itemid = %d AND clock >= %d AND clock < %d"
                " ORDER BY clock, ns" % (item, begin, end),
            ),
            (
                "SELECT count, min::float8, max::float8, first_clock, last_clock FROM zbxhist.statistics('history', %d, %d, %d)"
                % (item, begin, end),
                "SELECT count(*), min(value), max(value), min(clock), max(clock) FROM plain_history"
                " WHERE itemid = %d AND clock >= %d AND clock < %d" % (item, begin, end),
            ),
            (
                "SELECT itemid, clock, value, ns FROM zbxhist.last_values(NULL::history, ARRAY[%d], 3, %d)"
                % (item, begin),
                "SELECT itemid, clock, value, ns FROM plain_history WHERE itemid = %d AND clock >= %d"
                " ORDER BY clock DESC, ns DESC LIMIT 3" % (item, begin),
            ),
        ):
            managed, plain = self.run(function), self.run(sql)
            if repr(sorted(managed)) != repr(sorted(plain)):
                self.differ(horizon, "%s: %s, plain %s" % (function, managed[:3], plain[:3]))
        self.tally.add("functions compared", 3)


class StandbyComparer(Comparer):
    """Compares whole tables on the standby."""


class StandbyReader(RandomReader):
    """Runs random SELECTs on the standby."""
