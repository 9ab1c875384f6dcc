"""Calls of zbxhist's functions, and equivalent SQL."""

from .statement import Statement
from .tables import DAY, HOUR, some_clock

NUMBERS = {"f8": "double precision", "num": "numeric"}
TYPES = {**NUMBERS, "txt": "text", "vch": "text", "bin": "bytea"}


class Functions:
    """Makes calls, each with its SQL for the plain side."""

    def __init__(self, dice, tables):
        self.dice, self.tables = dice, tables

    def make(self):
        """A call that reads."""
        dice = self.dice
        table = dice.pick(list(self.tables.values()))
        calls = [self.range, self.nearest, self.minimum_time, self.last_values]
        if table.columns[table.value] in NUMBERS:
            calls += [self.statistics, self.buckets]
        return dice.pick(calls)(table)

    def span(self, table):
        """An item and two clocks."""
        low = some_clock(self.dice, table)
        high = low + self.dice.pick([-1, 1, 60, HOUR, DAY, 3 * DAY])
        return self.dice.pick([1, 2, 3, 4, 5, 6, 9]), low, high

    def range(self, table):
        """range(): rows of an item."""
        dice = self.dice
        item, low, high = self.span(table)
        sort, most = dice.pick(["asc", "desc"]), dice.pick([None, None, 1, 3, 100, 0])
        low_ns, high_ns = (
            (dice.pick([0, 1, 7]), dice.pick([0, 2, 999999999])) if table.has_ns else (0, 0)
        )
        ns = "ns" if table.has_ns else "0"
        order = ", ".join(f"{c} {sort}" for c in table.key[1:])
        rows = f"itemid = {item} AND (clock, {ns}) >= ({low}, {low_ns}) AND (clock, {ns}) < ({high}, {high_ns})"
        limit = "" if most is None else f" LIMIT {most}"
        call = f"NULL::{table.name}, {item}, {low}, {high}, '{sort}', {'NULL' if most is None else most}, {low_ns}, {high_ns}"
        condition = (
            dice.pick(["", "", f" WHERE clock % 7 <> {dice.below(7)}"]) if most is None else ""
        )
        return Statement(
            f"SELECT * FROM {table.name} WHERE {rows}{condition.replace('WHERE', 'AND')} ORDER BY {order}{limit}",
            "function",
            managed=f"SELECT * FROM zbxhist.range({call}){condition}",
            ordered=[],
        )

    def nearest(self, table):
        """nearest(): the row at a time."""
        item, clock, _ = self.span(table)
        which, sign, sort = self.dice.pick(
            [("exact", "=", ""), ("less", "<=", "DESC"), ("greater", ">=", "")]
        )
        ns = "ns" if table.has_ns else "0"
        order = ", ".join(f"{c} {sort}" for c in table.key[1:])
        return Statement(
            f"SELECT * FROM {table.name} WHERE itemid = {item} AND (clock, {ns}) {sign} ({clock}, 0) ORDER BY {order} LIMIT 1",
            "function",
            managed=f"SELECT * FROM zbxhist.nearest(NULL::{table.name}, {item}, {clock}, 0, '{which}') WHERE clock IS NOT NULL",
        )

    def minimum_time(self, table):
        """minimum_time(): the oldest row."""
        item = self.span(table)[0]
        ns = "ns" if table.has_ns else "0 AS ns"
        return Statement(
            f"SELECT clock, {ns} FROM {table.name} WHERE itemid = {item} ORDER BY 1, 2 LIMIT 1",
            "function",
            managed=f"SELECT clock, ns FROM zbxhist.minimum_time('{table.name}', {item})",
        )

    def last_values(self, table):
        """last_values(): the newest rows of items."""
        dice = self.dice
        items, most = sorted(dice.some([1, 2, 3, 4, 5, 6, 9])), dice.pick([1, 2, 7])
        since = some_clock(dice, table) if dice.chance(50) else None
        order = ", ".join(f"{c} DESC" for c in table.key[1:])
        listed = ", ".join(map(str, items))
        condition = "" if since is None else f" AND clock >= {since}"
        return Statement(
            f"SELECT r.* FROM unnest(ARRAY[{listed}]) i, LATERAL (SELECT * FROM {table.name}"
            f" WHERE itemid = i{condition} ORDER BY {order} LIMIT {most}) r",
            "function",
            managed=f"SELECT * FROM zbxhist.last_values(NULL::{table.name}, ARRAY[{listed}], {most}{'' if since is None else f', {since}'})",
        )

    def statistics(self, table):
        """statistics(): aggregates of an item; trends are weighted by their num."""
        item, low, high = self.span(table)
        if table.has_ns:
            figures = (
                "count(*), min(value), max(value), sum(value), avg(value), max(value) - min(value)"
            )
        else:
            figures = (
                "coalesce(sum(num), 0), min(value_min), max(value_max), sum(value_avg * num),"
                " sum(value_avg * num) / nullif(sum(num), 0), max(value_max) - min(value_min)"
            )
        kind = NUMBERS[table.columns[table.value]]
        return Statement(
            f"SELECT {figures}, min(clock), max(clock) FROM {table.name}"
            f" WHERE itemid = {item} AND clock >= {low} AND clock < {high}",
            "function",
            managed=f"SELECT count, min::{kind}, max::{kind}, sum::{kind}, avg::{kind}, delta::{kind}, first_clock, last_clock"
            f" FROM zbxhist.statistics('{table.name}', {item}, {low}, {high})",
            is_rough=True,
        )

    def buckets(self, table):
        """buckets(): the frontend's graph."""
        item, low, high = self.span(table)
        width = self.dice.pick([1, 5, 900])
        figures = (
            "count(*), avg(value), min(value), max(value)"
            if table.has_ns
            else "sum(num), avg(value_avg), min(value_min), max(value_max)"
        )
        kind = NUMBERS[table.columns[table.value]]
        bucket = f"round({width}.0*(clock-({low}))/({high - low}),0)"
        return Statement(
            f"SELECT {bucket}, {figures}, max(clock) FROM {table.name} WHERE itemid = {item}"
            f" AND clock >= {low} AND clock <= {high} AND {high} > {low} GROUP BY 1",
            "function",
            managed=f"SELECT bucket::numeric, count, avg::{kind}, min::{kind}, max::{kind}, clock"
            f" FROM zbxhist.buckets('{table.name}', {item}, {low}, {high}, {width})",
            is_rough=True,
        )

    # ---- changes ----

    def add(self, table, rows):
        """add(): rows are keys and values as text."""
        dice = self.dice
        action = dice.pick(["error", "ignore", "update"])
        # ON CONFLICT DO UPDATE must not change a row twice
        rows = list(dict(rows).items())
        kind = TYPES[table.columns["value"]]
        arrays = ", ".join(
            f"ARRAY[{', '.join(str(key[i]) for key, _ in rows)}]::{t}[]"
            for i, t in enumerate(("bigint", "integer", "integer"))
        )
        arrays += f", ARRAY[{', '.join(value for _, value in rows)}]::{kind}[]"
        clause = {
            "error": "",
            "ignore": " ON CONFLICT DO NOTHING",
            "update": " ON CONFLICT (itemid, clock, ns) DO UPDATE SET value = excluded.value",
        }[action]
        return Statement(
            "WITH a AS (INSERT INTO {0} (itemid, clock, ns, value) SELECT * FROM unnest({1}){2} RETURNING 1)"
            " SELECT count(*) AS add FROM a".format(table.name, arrays, clause),
            "add",
            managed=f"SELECT zbxhist.add(NULL::{table.name}, {arrays}, on_conflict => '{action}')",
        )

    def delete(self, table):
        """delete_values()."""
        item, clock, _ = self.span(table)
        which, sign = self.dice.pick(
            [
                ("equal", "="),
                ("less", "<"),
                ("less_or_equal", "<="),
                ("greater", ">"),
                ("greater_or_equal", ">="),
            ]
        )
        ns, moment = ("ns", self.dice.pick([0, 7])) if table.has_ns else ("0", 0)
        return Statement(
            f"WITH d AS (DELETE FROM {table.name} WHERE itemid = {item} AND (clock, {ns}) {sign} ({clock}, {moment}) RETURNING 1)"
            " SELECT count(*) AS delete_values FROM d",
            "delete",
            managed=f"SELECT zbxhist.delete_values('{table.name}', {item}, {clock}, {moment}, '{which}')",
        )
