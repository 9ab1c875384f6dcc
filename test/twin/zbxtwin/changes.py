"""Statements that change something: INSERT, UPDATE, DELETE, MERGE, COPY, transactions, cursors,
settings."""

from .statement import Statement
from .tables import DAY, DAYS, HOUR, literal, row_text, row_values, some_clock

# SQLSTATEs with which statements on rows outside the table itself may be refused, as in
# limits.md
REFUSED = ("0A000",)


class Changer:
    """Makes statements that change tables."""

    def __init__(self, dice, tables, maker, archived=None):
        self.dice, self.tables, self.maker = dice, tables, maker
        self.fresh = 1000
        # new keys only for these: an INSERT does not check for duplicates in an archived
        # day
        self.archived, self.days = archived, [day for day in DAYS if day != archived]

    def key(self, table):
        """A key: a new one, or one of a few."""
        dice = self.dice
        clock = some_clock(dice, table)
        if dice.chance(3):
            clock = dice.pick([-1, 0, 2147400000, -2147000000, DAY * 8])
        if dice.chance(60):
            self.fresh += 1
            # trends have whole hours, so only new items give new keys
            if table.has_ns:
                return dice.pick([1, 2, 3, 4, 5, 6]), clock, self.fresh
            return self.fresh, clock, 0
        if self.archived is not None and self.archived <= clock < self.archived + DAY:
            clock = some_clock(dice, table, dice.pick(self.days))
        return (
            dice.between(1, 5),
            dice.pick([clock, dice.pick(self.days), dice.pick(self.days) + HOUR]),
            dice.pick([0, 7, 14]),
        )

    def rows(self, table, columns, most=20):
        """Formats rows for VALUES."""
        dice = self.dice
        number = dice.pick([1, 1, 2, 5, dice.between(1, most)])
        return [row_text(table, columns, *self._row(table)) for _ in range(number)]

    def _row(self, table):
        key = self.key(table)
        return key, row_values(self.dice, table, key[0])

    def columns(self, table):
        """The columns in Zabbix's order, or in the table's."""
        if self.dice.chance(80):
            return table.key + table.values
        return list(table.columns)

    def insert(self, table):
        """An INSERT."""
        dice, name = self.dice, table.name
        columns = self.columns(table)
        head = f"insert into {name} ({','.join(columns)})"
        text = f"{head} values {','.join(self.rows(table, columns))}"
        choice = dice.below(22)
        if choice == 0:
            return Statement(
                f"{text} RETURNING {dice.pick(['*', 'itemid, clock', name, '1'])}", "insert"
            )
        if choice == 1:
            return Statement(f"{text} ON CONFLICT DO NOTHING", "insert", allowed=REFUSED)
        if choice == 2:
            return Statement(
                f"{text} ON CONFLICT ({', '.join(table.key)}) DO NOTHING RETURNING itemid",
                "insert",
                allowed=REFUSED,
            )
        if choice == 3:
            last = table.values[-1]
            return Statement(
                f"{text} ON CONFLICT ({', '.join(table.key)}) DO UPDATE SET {last} = excluded.{last}",
                "insert",
                allowed=REFUSED,
            )
        if choice in (4, 5):
            source = dice.pick(
                [
                    t
                    for t in self.tables.values()
                    if list(t.columns.values()) == list(table.columns.values())
                ]
            )
            item = dice.pick(["itemid", "itemid + 100", f"itemid + {self.fresh * 10}"])
            shown = [item if c == "itemid" else c for c in columns]
            low = dice.pick(self.days) + dice.between(0 if self.archived else -HOUR, HOUR)
            self.fresh += 1
            return Statement(
                f"{head} SELECT {', '.join(shown)} FROM {source.name}"
                f" WHERE itemid < 6 AND clock BETWEEN {low} AND {low + dice.pick([HOUR, 3 * HOUR])}",
                "insert",
            )
        if choice == 6:
            self.fresh += 1
            shown = {
                "itemid": f"{self.fresh} + g % 3",
                "clock": f"{dice.pick(self.days)} + g * {dice.pick([60, HOUR])}",
                "ns": "g",
            }
            values = row_values(dice, table, 1)
            return Statement(
                f"{head} SELECT {', '.join(str(shown.get(c, values.get(c))) for c in columns)}"
                f" FROM generate_series(1, {dice.pick([1, 10, 23])}) g",
                "insert",
            )
        if choice == 7:
            self.fresh += 1
            return Statement(f"insert into {name} (itemid) values ({self.fresh})", "insert")
        if choice == 8:
            broken = dice.pick(["NULL", "'abc'", "99999999999999999999", "2147483648.5"])
            column = dice.pick(columns)
            self.fresh += 1
            row = {
                "itemid": self.fresh,
                "clock": DAYS[0],
                "ns": 0,
                **row_values(dice, table, 1),
                column: broken,
            }
            return Statement(f"{head} values ({', '.join(str(row[c]) for c in columns)})", "insert")
        if choice == 9:
            other = f"{head} values {','.join(self.rows(table, columns))}"
            return Statement(
                f"WITH a AS ({other} RETURNING itemid) SELECT count(*) FROM a", "insert"
            )
        if choice == 10:
            texts = [
                "\t".join(
                    str(v).strip("'").replace("''", "'").replace("\\", "\\\\")
                    for v in [
                        dict(zip(("itemid", "clock", "ns"), key), **values)[c] for c in columns
                    ]
                )
                for key, values in (self._row(table) for _ in range(dice.between(1, 20)))
            ]
            if not any("repeat(" in t for t in texts):
                return Statement(
                    f"copy {name} ({','.join(columns)}) from stdin",
                    "insert",
                    copied="\n".join(texts) + "\n",
                )
        if choice == 11:
            key, values = self._row(table)
            row = {"itemid": key[0], "clock": key[1], "ns": key[2], **values}
            given = [str(row[c]).strip("'") for c in columns]
            if not any("repeat(" in g for g in given):
                return Statement(
                    f"{head} values ({', '.join(f'${i + 1}' for i in range(len(columns)))})",
                    "insert",
                    parameters=given,
                )
        if choice == 13 and table.has_ns and table.name != "history_log":
            keys = {self.key(table) for _ in range(dice.between(1, 9))}
            rows = [(k, literal(dice, table.columns["value"], k[0] == 3)) for k in sorted(keys)]
            return self.maker.functions.add(table, rows)
        if choice == 12:
            return self.block(table)
        return Statement(text, "insert")

    def block(self, table):
        """Changes in PL/pgSQL blocks, whose errors are caught."""

        def some():
            statement = self.dice.pick([self.insert, self.insert, self.update, self.delete])(table)
            text = statement.text
            is_plain = (
                text.startswith(("insert", "UPDATE", "DELETE", "delete"))
                and "RETURNING" not in text
            )
            is_plain = (
                is_plain
                and not statement.allowed
                and statement.kind != "add"
                and not statement.managed
            )
            return (
                text
                if is_plain and statement.parameters is None and statement.copied is None
                else "NULL"
            )

        end = self.dice.pick(["NULL", "RAISE division_by_zero"])
        return Statement(
            f"DO $block$ BEGIN {some()}; BEGIN {some()}; BEGIN {some()}; {some()}; {end};"
            f" EXCEPTION WHEN unique_violation OR division_by_zero THEN {some()}; END; {some()};"
            f" EXCEPTION WHEN unique_violation OR data_exception OR not_null_violation THEN {some()}; END; END $block$",
            "block",
        )

    def where(self, table, alias=""):
        """A condition on the rows to change, mostly few."""
        dice, prefix = self.dice, f"{alias}." if alias else ""
        item = dice.pick([1, 2, 3, 4, 5, 6, 7, 9])
        day = dice.pick(DAYS)
        clock = some_clock(dice, table)
        return dice.pick(
            [
                f"{prefix}itemid = {item} AND {prefix}clock = {dice.pick([clock, day, day + HOUR])}",
                f"{prefix}itemid = {item} AND {prefix}clock = {dice.pick([clock, day, day + HOUR])}",
                f"{prefix}itemid={item} and {prefix}clock<{clock}",
                f"{prefix}itemid = {item} AND {prefix}clock BETWEEN {clock} AND {clock + HOUR}",
                f"{prefix}itemid IN ({item}, {dice.between(1, 9)}) AND {prefix}clock >= {day} AND {prefix}clock < {day + HOUR * 2}",
                f"{prefix}clock BETWEEN {clock} AND {clock + dice.pick([60, HOUR])}",
                f"{prefix}itemid = {item} AND {prefix}{table.value} = {literal(dice, table.columns[table.value])}",
                f"{prefix}itemid = {item} AND {prefix}clock % 7 = {dice.below(7)} AND {prefix}clock > {day}",
                f"{prefix}itemid = {item} AND {prefix}clock = (SELECT max(clock) FROM {table.name} WHERE itemid = {item})",
                f"EXISTS (SELECT FROM items i WHERE i.itemid = {prefix or table.name + '.'}itemid AND i.lo = {prefix}clock)",
                f"{prefix}itemid = {item} AND ({prefix}clock = {clock} OR {prefix}clock > {day + HOUR * 20})",
            ]
        )

    def update(self, table):
        """An UPDATE."""
        dice, name = self.dice, table.name
        column = dice.pick(table.values)
        kind = table.columns[column]
        value = literal(dice, kind, dice.chance(20))
        if kind in ("f8", "num", "i4") and dice.chance(30):
            value = dice.pick([f"{column} + 1", "DEFAULT", "(SELECT max(lo) FROM items)", "itemid"])
        elif dice.chance(20):
            value = "DEFAULT"
        returning = dice.pick(
            ["", "", "", " RETURNING *", f" RETURNING itemid, clock, {column}", " RETURNING clock"]
        )
        choice = dice.below(14)
        if choice == 0 and self.archived is None:
            key = dice.pick(table.key)
            return Statement(
                f"UPDATE {name} SET {key} = {key} + {dice.pick([0, 1, 500, 86400])} WHERE {self.where(table)}",
                "update",
                allowed=REFUSED,
            )
        if choice == 1:
            return Statement(
                f"UPDATE {name} h SET {column} = {value} FROM items i WHERE i.itemid = h.itemid AND {self.where(table, 'h')}{returning.replace('itemid, clock', 'h.itemid, h.clock').replace('*', 'h.*').replace(', ' + column, ', h.' + column)}",
                "update",
            )
        if choice == 2:
            return Statement(
                f"WITH u AS (UPDATE {name} SET {column} = {value} WHERE {self.where(table)} RETURNING itemid, clock)"
                " SELECT itemid, count(*), max(clock) FROM u GROUP BY itemid",
                "update",
            )
        return Statement(
            f"UPDATE {name} SET {column} = {value} WHERE {self.where(table)}{returning}", "update"
        )

    def delete(self, table):
        """A DELETE."""
        dice, name = self.dice, table.name
        item, choice = dice.pick([1, 2, 3, 4, 6, 7]), dice.below(17)
        if choice == 16:
            return self.maker.functions.delete(table)
        if choice == 0:
            return Statement(f"delete from {name} where itemid={item}", "delete")
        if choice == 1:
            return Statement(
                f"delete from {name} where itemid={item} and ctid = any(array(select ctid from {name} where itemid={item} limit 5000))",
                "delete",
            )
        if choice == 2:
            return Statement(
                f"DELETE FROM {name} h USING items i WHERE i.itemid = h.itemid AND {self.where(table, 'h')}",
                "delete",
            )
        if choice == 3 and dice.chance(10):
            return Statement(f"TRUNCATE {name}", "delete")
        if choice == 4:
            return Statement(
                f"WITH d AS (DELETE FROM {name} WHERE {self.where(table)} RETURNING *) SELECT count(*), min(clock) FROM d",
                "delete",
            )
        returning = dice.pick(
            [
                "",
                "",
                " RETURNING *",
                f" RETURNING itemid, clock, {table.value}",
                f" RETURNING {name}",
            ]
        )
        return Statement(f"DELETE FROM {name} WHERE {self.where(table)}{returning}", "delete")

    def merge(self, table):
        """A MERGE, which PostgreSQL refuses if a foreign table is involved."""
        columns = table.key + table.values
        action = self.dice.pick(
            ["DO NOTHING", "DELETE", f"UPDATE SET {table.values[-1]} = DEFAULT"]
        )
        return Statement(
            f"MERGE INTO {table.name} t USING (SELECT i.itemid, {self.dice.pick(DAYS)} AS clock FROM items i) v"
            f" ON t.itemid = v.itemid AND t.clock = v.clock WHEN MATCHED THEN {action}"
            f" WHEN NOT MATCHED THEN INSERT ({columns[0]}, {columns[1]}) VALUES (v.itemid, v.clock)",
            "merge",
            allowed=REFUSED,
        )

    def make(self):
        """Any of these."""
        table = self.dice.pick(list(self.tables.values()))
        make = self.dice.weighted(
            [(50, self.insert), (22, self.update), (24, self.delete), (1, self.merge)]
        )
        return make(table)


class Session:
    """Transactions, savepoints, cursors, prepared statements and settings of a session."""

    SETTINGS = (
        "plan_cache_mode = auto",
        "plan_cache_mode = force_generic_plan",
        "plan_cache_mode = force_custom_plan",
        "enable_hashagg = off",
        "enable_hashagg = on",
        "enable_sort = off",
        "enable_sort = on",
        "enable_nestloop = off",
        "enable_nestloop = on",
        "enable_hashjoin = off",
        "enable_mergejoin = off",
        "enable_seqscan = off",
        "enable_seqscan = on",
        "enable_bitmapscan = off",
        "enable_indexscan = off",
        "enable_indexscan = on",
        "enable_incremental_sort = off",
        "work_mem = '64kB'",
        "work_mem = '4MB'",
        "jit = off",
        "constraint_exclusion = off",
        "constraint_exclusion = on",
        "constraint_exclusion = partition",
        "from_collapse_limit = 1",
        "from_collapse_limit = 8",
        "random_page_cost = 1",
        "random_page_cost = 40",
        "max_parallel_workers_per_gather = 0",
        "max_parallel_workers_per_gather = 2",
        "parallel_setup_cost = 0",
        "parallel_tuple_cost = 0",
        "min_parallel_table_scan_size = 0",
    )
    SWITCHES = (
        "aggregate_scan",
        "batching",
        "fast_insert",
        "item_scan",
        "packed_scan_pruning",
        "routing",
    )

    def __init__(self, dice):
        self.dice = dice
        self.cursors, self.prepared, self.number = [], [], 0
        # settings for a transaction, and for a session
        self.scrolled, self.held = set(), set()

    def control(self, status):
        """BEGIN, savepoints, and their ends."""
        dice = self.dice
        if status == "I":
            self.cursors = [c for c in self.cursors if c in self.held]
            level = dice.pick(
                [
                    "",
                    "",
                    " ISOLATION LEVEL REPEATABLE READ",
                    " ISOLATION LEVEL SERIALIZABLE",
                    " READ ONLY",
                ]
            )
            return Statement(f"BEGIN{level}", "control")
        if status == "E":
            return Statement(
                dice.pick(["ROLLBACK", "ROLLBACK", "ROLLBACK TO a", "COMMIT"]), "control"
            )
        return Statement(
            dice.pick(
                [
                    "COMMIT",
                    "COMMIT",
                    "COMMIT",
                    "ROLLBACK",
                    "SAVEPOINT a",
                    "SAVEPOINT a",
                    "ROLLBACK TO a",
                    "RELEASE a",
                ]
            ),
            "control",
        )

    def cursor(self, select):
        """DECLARE of a query with a total order, or FETCH, MOVE, CLOSE."""
        dice = self.dice
        if self.cursors and dice.chance(75):
            name = dice.pick(self.cursors)
            way = dice.pick(["3", "FORWARD 7", "ALL", "NEXT", "2"])
            if name in self.scrolled and dice.chance(50):
                ways = ["PRIOR", "BACKWARD 4", "BACKWARD ALL", "FIRST", "LAST"]
                way = dice.pick([*ways, "ABSOLUTE 5", "ABSOLUTE -2", "RELATIVE -3", "RELATIVE 2"])
            return Statement(
                dice.pick([f"FETCH {way} FROM {name}"] * 4 + [f"MOVE {way} FROM {name}"]),
                "cursor",
                ordered=[],
            )
        self.number += 1
        name = f"c{self.number}"
        self.cursors.append(name)
        kind, hold = dice.pick(["", "NO SCROLL ", "SCROLL "]), dice.pick(["", "", "WITH HOLD "])
        if kind == "SCROLL ":
            self.scrolled.add(name)
        if hold:
            self.held.add(name)
        return Statement(f"DECLARE {name} {kind}CURSOR {hold}FOR {select.text()}", "cursor")

    def setting(self):
        """A SET; of zbxhist's settings on the managed side only."""
        if self.dice.chance(40):
            name = self.dice.pick(self.SWITCHES)
            value = "on" if self.dice.chance(65) else "off"
            return Statement(
                "SET application_name = 'x'",
                "setting",
                managed=f"SET zbxhist.enable_{name} = {value}",
            )
        return Statement(f"SET {self.dice.pick(self.SETTINGS)}", "setting")
