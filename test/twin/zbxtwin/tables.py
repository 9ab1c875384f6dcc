"""The tables, their first rows, and random choices."""

import random

HOUR, DAY = 3600, 86400
# days: of hours, packed and compacted; packed; of hours; of one partition; without
# partitions
DAYS = [DAY * n for n in range(1, 6)]
ITEMS = range(1, 8)
BIG = 18446744073709551615


class Dice:
    """Random choices that are the same on every machine."""

    def __init__(self, *seed):
        self.random = random.Random("/".join(map(str, seed))).random

    def below(self, limit):
        """A number from 0 up to the limit."""
        return int(self.random() * limit)

    def between(self, low, high):
        """A number, both ends included."""
        return low + int(self.random() * (high - low + 1))

    def pick(self, choices):
        """One element of a sequence."""
        return choices[int(self.random() * len(choices))]

    def chance(self, percent):
        """True with this probability."""
        return self.random() * 100 < percent

    def weighted(self, choices):
        """One of (weight, value)."""
        place = self.random() * sum(weight for weight, _ in choices)
        for weight, what in choices:
            place -= weight
            if place < 0:
                return what
        return choices[-1][1]

    def some(self, choices, least=1):
        """Some elements of a sequence, in its order."""
        wanted = set()
        number = self.between(least, len(choices))
        while len(wanted) < number:
            wanted.add(self.below(len(choices)))
        return [choices[i] for i in sorted(wanted)]


class Table:
    """A table of Zabbix: columns with their kinds, in order."""

    def __init__(self, name, columns):
        self.name = name
        self.columns = dict(c.split(":") for c in columns.split())
        self.key = ["itemid", "clock"] + (["ns"] if "ns" in self.columns else [])
        self.has_ns = "ns" in self.columns
        # the column with the value
        self.value = "value" if "value" in self.columns else "value_avg"

    @property
    def values(self):
        """The columns outside the key."""
        return [c for c in self.columns if c not in self.key]

    def copy(self):
        """A copy that may be altered."""
        return Table(self.name, " ".join(f"{c}:{k}" for c, k in self.columns.items()))

    def definition(self):
        """CREATE TABLE."""
        types = {
            "i8": "bigint NOT NULL",
            "i4": "integer DEFAULT 0 NOT NULL",
            "f8": "double precision DEFAULT 0.0000 NOT NULL",
            "num": "numeric(20) DEFAULT 0 NOT NULL",
            "txt": "text DEFAULT '' NOT NULL",
            "vch": "varchar(255) DEFAULT '' NOT NULL",
            "bin": "bytea DEFAULT '' NOT NULL",
        }
        columns = ", ".join(f"{c} {types[k]}" for c, k in self.columns.items())
        return f"CREATE TABLE {self.name} ({columns}, PRIMARY KEY ({', '.join(self.key)}))"


TABLES = {
    t.name: t
    for t in (
        Table("history", "itemid:i8 clock:i4 value:f8 ns:i4"),
        Table("history_uint", "itemid:i8 clock:i4 value:num ns:i4"),
        Table("history_str", "itemid:i8 clock:i4 value:vch ns:i4"),
        Table("history_text", "itemid:i8 clock:i4 value:txt ns:i4"),
        Table(
            "history_log",
            "itemid:i8 clock:i4 timestamp:i4 source:vch severity:i4 value:txt logeventid:i4 ns:i4",
        ),
        Table("history_bin", "itemid:i8 clock:i4 ns:i4 value:bin"),
        Table("trends", "itemid:i8 clock:i4 num:i4 value_min:f8 value_avg:f8 value_max:f8"),
        Table("trends_uint", "itemid:i8 clock:i4 num:i4 value_min:num value_avg:num value_max:num"),
    )
}


def literal(dice, kind, is_special=False):
    """A value of a kind, as SQL.  Sums of the doubles are exact in any order."""
    if kind in ("i4", "i8"):
        return str(dice.between(0, 1000))
    if kind == "f8":
        if is_special and dice.chance(40):
            return dice.pick(["'NaN'", "'Infinity'", "'-Infinity'", "0", "'-0'", "5e-324"])
        return str(dice.between(-4000, 4000) / 4)
    if kind == "num":
        if is_special and dice.chance(40):
            return dice.pick([str(BIG), str(BIG - 1), "9223372036854775808", "0"])
        return str(dice.between(0, 2000))
    if kind == "bin":
        return "'\\x" + "00ff5c"[: 2 * dice.below(4)] * dice.below(9) + "'"
    if is_special and dice.chance(20):
        if kind == "txt":
            return f"repeat('{dice.pick(['x', 'line ', 'äö'])}', {dice.pick([400, 3000, 60000])})"
        return f"'{'x' * 255}'"
    return dice.pick(
        ["''", "'up'", "'down'", "'it''s'", "'a \\ b'", "'äöü €'", f"'n{dice.below(50)}'"]
    )


def some_clock(dice, table, day=None):
    """A clock at which there may be rows; trends have whole hours."""
    day = dice.pick(DAYS) if day is None else day
    if table.has_ns:
        # few hours of a day, so that these have many rows
        return (
            day
            + dice.pick([0, 0, HOUR, HOUR * 5, HOUR * 23])
            + dice.pick([0, 1, 60, 3599, dice.below(HOUR)])
        )
    return day + HOUR * dice.below(24)


def row_values(dice, table, item):
    """Values of a row's other columns."""
    return {c: literal(dice, table.columns[c], item == 3) for c in table.values}


def first_rows(dice, table):
    """The first rows of a table: (itemid, clock, ns) to values."""
    rows = {}

    def add(item, clock, ns):
        rows[item, clock, ns if table.has_ns else 0] = row_values(dice, table, item)

    step = 1200 if table.has_ns else HOUR
    for day in DAYS:
        for place in range(0, DAY, step * 4):
            ns = dice.below(1000000000)
            add(1, day + place, ns)
            # a dependent item has its master's times
            add(2, day + place, ns)
        for _ in range(12):
            add(3, some_clock(dice, table, day), dice.pick([0, 1, 999999999]))
        # many values in one second
        for ns in range(8):
            add(4, day + HOUR, ns * 7)
    if table.name in ("history", "history_uint"):
        for place in range(0, DAY, 120):
            add(5, DAYS[1] + place, place * 1000)
    for clock in (-1, 0, -2147000000, 2147400000, DAY * 8):
        add(6, clock if table.has_ns else clock - clock % HOUR, 5)
    return rows


def row_text(table, columns, key, values):
    """Formats a row for VALUES."""
    row = {"itemid": key[0], "clock": key[1], "ns": key[2], **values}
    return "(" + ",".join(str(row[c]) for c in columns) + ")"


def first_inserts(dice, table):
    """Statements that store the first rows."""
    rows = sorted(first_rows(dice, table).items(), key=lambda r: (r[0][0] * 7 % 5, r[0]))
    columns = list(table.columns)
    for at in range(0, len(rows), 500):
        texts = [row_text(table, columns, *row) for row in rows[at : at + 500]]
        yield f"INSERT INTO {table.name} ({','.join(columns)}) VALUES {','.join(texts)}"


PLAIN = """
CREATE TABLE items (itemid bigint PRIMARY KEY, name text NOT NULL, kind integer, lo integer, hi integer);
INSERT INTO items SELECT i, 'item ' || i, nullif(i % 4, 3), i * 20000, i * 20000 + 90000 FROM generate_series(1, 8) i;
CREATE VIEW recent AS SELECT itemid, clock, value, ns FROM history WHERE clock >= 172800;
CREATE VIEW per_item AS SELECT itemid, count(*) AS n, min(value), max(value) AS highest, max(clock) AS clock FROM history GROUP BY itemid;
CREATE VIEW both_kinds AS SELECT itemid, clock, value::numeric AS value FROM history WHERE itemid <> 3 UNION ALL SELECT itemid, clock, value FROM history_uint;
CREATE FUNCTION newest(i bigint) RETURNS integer LANGUAGE sql STABLE AS 'SELECT max(clock) FROM history WHERE itemid = i';
"""


def first_upkeep(dice):
    """Statements that make hours, packed and compacted days of the managed tables."""
    for name, table in TABLES.items():
        yield f"SELECT zbxhist.create_parent('{name}', '1 hour', retention => '200 years', premake => 0)"
        for day in (DAYS[0], DAYS[2]):
            for hour in (0, 1, 2, 5):
                if table.has_ns or hour == 0:
                    yield f"SELECT zbxhist_internal.create_range('{name}', {day + hour * HOUR}, {day + (hour + 1) * HOUR})"
        for day in DAYS[:4]:
            yield f"SELECT zbxhist.create_partition('{name}', '{date(day)}')"
    for name, table in TABLES.items():
        yield from first_inserts(dice, table)
    for name in TABLES:
        yield f"CALL zbxhist.pack('{name}', '{date(DAYS[0])}')"
        yield f"CALL zbxhist.compact('{name}', '{date(DAYS[0])}')"
        yield f"CALL zbxhist.pack('{name}', '{date(DAYS[1])}')"


def date(clock):
    """The UTC day of a clock; all are in January 1970."""
    return f"1970-01-{1 + clock // DAY:02d}"
