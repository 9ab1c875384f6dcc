"""SELECTs of the shapes that Zabbix sends and zbxhist recognises, and variations of them."""

from .functions import Functions
from .statement import Select, Target, statement_of
from .tables import BIG, DAY, DAYS, HOUR, TABLES, Table, some_clock

INTEGER, NUMBER = ("i4", "i8"), ("i4", "i8", "num", "f8")


class Scope:
    """A table in FROM: its alias, and its columns with their kinds."""

    def __init__(self, table, alias=""):
        self.table, self.alias = table, alias
        self.columns = table.columns

    def __getitem__(self, column):
        return f"{self.alias}.{column}" if self.alias else column

    def of_kind(self, kinds):
        """The columns of some kinds."""
        return [self[c] for c, k in self.columns.items() if k in kinds]

    @property
    def source(self):
        """Its text in FROM."""
        return f"{self.table.name} {self.alias}".strip()

    @property
    def row(self):
        """The whole row as a target."""
        return self.alias or self.table.name


class Maker:
    """Makes SELECTs over the tables in their present form."""

    def __init__(self, dice, tables):
        self.dice, self.tables = dice, tables
        self.parameters = None
        self.functions = Functions(dice, tables)

    # ---- constants ----

    def given(self, value, kind):
        """A constant: a literal, a cast, a string of unknown type, a parameter."""
        dice = self.dice
        if value is None:
            return "NULL" if dice.chance(50) else f"NULL::{kind}"
        if self.parameters is not None and dice.chance(60):
            self.parameters.append(str(value))
            return f"${len(self.parameters)}" + (f"::{kind}" if dice.chance(20) else "")
        choice = dice.below(20)
        if choice < 9:
            return str(value) if value >= 0 else f"({value})"
        if choice < 15:
            return f"'{value}'"
        other = dice.pick(["bigint", "integer", "numeric", "float8", kind])
        if choice == 15 and -(2**31) <= value < 2**31:
            return f"{value}::{other}" if value >= 0 else f"({value})::{other}"
        if choice == 16:
            return f"({value} + 0)"
        if choice == 17 and value > 0:
            return f"{value}.0"
        if choice == 18:
            return f"(SELECT {value})"
        return str(value) if value >= 0 else f"({value})"

    def item(self):
        """An item, usually one that has rows."""
        value = self.dice.pick([1, 1, 2, 3, 4, 5, 5, 6, 7, 8, 99])
        if self.dice.chance(2):
            value = self.dice.pick([None, -1, 2**40, 9223372036854775807])
        return self.given(value, "bigint")

    def items(self):
        """A list of items."""
        dice = self.dice
        values = [self.dice.pick([1, 2, 3, 4, 5, 6, 7, 8, 99]) for _ in range(dice.between(1, 5))]
        choice = dice.below(10)
        if choice < 6:
            return f"IN ({', '.join(self.given(v, 'bigint') for v in values)})"
        if choice == 6:
            return f"= ANY ('{{{','.join(map(str, values))}}}')"
        if choice == 7:
            return f"= ANY (ARRAY[{','.join(map(str, values))}]::bigint[])"
        if choice == 8:
            return f"IN (SELECT itemid FROM items WHERE lo < {dice.between(0, 200000)})"
        return f"IN (VALUES {', '.join(f'({v}::bigint)' for v in values)})"

    def clock(self, table=None):
        """A clock."""
        dice = self.dice
        if dice.chance(4):
            return self.given(
                dice.pick([None, -1, 0, 2147483647, -2147483648, DAY * 9, DAYS[1] - 1]), "integer"
            )
        return self.given(some_clock(dice, table or TABLES["history"]), "integer")

    # ---- conditions ----

    def of_item(self, scope):
        """A condition on items."""
        if self.dice.chance(70):
            if self.dice.chance(6):
                return f"{self.item()} = {scope['itemid']}"
            return f"{scope['itemid']} = {self.item()}"
        return f"{scope['itemid']} {self.items()}"

    def of_clock(self, scope):
        """A condition on clocks."""
        dice, clock = self.dice, scope["clock"]
        choice = dice.below(12)
        if choice < 3:
            return [f"{clock} > {self.clock()}"]
        if choice < 5:
            return [f"{clock} <= {self.clock()}"]
        day = dice.pick(DAYS)
        low = day + dice.between(-HOUR, HOUR)
        high = low + dice.pick([60, HOUR, HOUR * 6, DAY, DAY * 3])
        low, high = self.given(low, "integer"), self.given(high, "integer")
        if choice < 9:
            return [
                f"{clock} {dice.pick(['>', '>='])} {low}",
                f"{clock} {dice.pick(['<', '<='])} {high}",
            ]
        if choice == 9:
            return [f"{clock} BETWEEN {low} AND {high}"]
        if choice == 10:
            return [f"{clock} = {self.clock(scope.table)}"]
        return []

    def condition(self, scope, depth=1):
        """Any condition."""
        dice = self.dice
        choice = dice.below(24)
        if choice < 3 and depth:
            return f"({self.condition(scope, depth - 1)} OR {self.condition(scope, depth - 1)})"
        if choice == 3 and depth:
            return f"NOT ({self.condition(scope, depth - 1)})"
        if choice == 4 and depth:
            return f"({self.condition(scope, depth - 1)} AND {self.condition(scope, depth - 1)})"
        if choice in (5, 6):
            return self.of_item(scope)
        if choice in (7, 8):
            return " AND ".join(self.of_clock(scope)) or "true"
        if choice == 9:
            return f"{self.expression(scope, INTEGER)} {dice.pick(['=', '<', '>', '<>'])} {self.expression(scope, INTEGER)}"
        if choice in (10, 11, 12):
            numbers = scope.of_kind(("num", "f8"))
            if numbers:
                constant = dice.pick(
                    ["0", "10", "'0'", "100.5", "1000", "-5", "'NaN'", str(BIG), "NULL"]
                )
                return f"{dice.pick(numbers)} {dice.pick(['=', '<', '>', '<>', '>=', 'IS DISTINCT FROM'])} {constant}"
            texts = scope.of_kind(("txt", "vch"))
            if texts:
                return f"{dice.pick(texts)} " + dice.pick(
                    [
                        "= 'up'",
                        "<> ''",
                        "LIKE '%n%'",
                        "ILIKE 'UP%'",
                        "> 'down'",
                        "IN ('up', 'down')",
                        "IS NULL",
                    ]
                )
        if choice == 13:
            return f"{dice.pick(scope.of_kind(INTEGER))} IS {dice.pick(['', 'NOT '])}NULL"
        if choice == 14:
            return f"EXISTS (SELECT {dice.pick(['', '1', '*'])} FROM items e WHERE e.itemid = {scope['itemid']} AND e.lo < {dice.between(0, 200000)})"
        if choice == 15:
            other = self.dice.pick(list(self.tables.values()))
            return (
                f"{dice.pick(['', 'NOT '])}EXISTS (SELECT FROM {other.name} e WHERE e.itemid = {scope['itemid']}"
                f" AND e.clock {dice.pick(['=', '>'])} {scope['clock']})"
            )
        if choice == 16:
            other = self.dice.pick(list(self.tables.values()))
            return f"{scope['clock']} {dice.pick(['=', '<', '>='])} (SELECT {dice.pick(['max', 'min'])}(clock) FROM {other.name} e WHERE e.itemid = {dice.pick([scope['itemid'], '5', '4'])})"
        if choice == 17:
            return (
                f"({scope['itemid']}, {scope['clock']}) {dice.pick(['IN', '=', '<', '>='])} "
                + (f"({self.item()}, {self.clock()})").replace("IN (", "= (")
                if dice.chance(1)
                else f"({scope['itemid']}, {scope['clock']}) {dice.pick(['<', '>=', '>'])} ({dice.between(1, 6)}, {dice.pick(DAYS)})"
            )
        if choice == 18:
            return f"{scope['itemid']} % 2 = {dice.below(2)}"
        if choice == 19:
            return f"{scope['clock']} % {dice.pick([7, 60, 3600])} {dice.pick(['=', '<>'])} 0"
        if choice == 20:
            return dice.pick(["true", "false", "NULL", "1 = 1", "NULL::boolean IS NULL"])
        if choice == 21:
            return f"CASE WHEN {scope['itemid']} < 4 THEN {self.condition(scope, 0)} ELSE {self.condition(scope, 0)} END"
        if choice == 22:
            return f"{scope.row} {dice.pick(['IS NOT NULL', 'IS NULL', 'IS DISTINCT FROM NULL'])}"
        return f"{scope['clock']} + {dice.between(0, 99)} > {dice.pick(DAYS)}"

    # ---- expressions ----

    def expression(self, scope, kinds, depth=1):
        """An expression of one of some kinds."""
        dice = self.dice
        columns = scope.of_kind(kinds)
        if not columns:
            return "1"
        column = dice.pick(columns)
        if dice.chance(55):
            return column
        if kinds == INTEGER or column in scope.of_kind(INTEGER):
            return dice.pick(
                [
                    f"({column} + {dice.between(-9, 9)})",
                    f"({column} / {dice.pick([1, 7, 60, 3600])})",
                    f"{column} % {dice.pick([2, 60, 300])}",
                    f"mod({scope['clock']}, 300)",
                    f"(CAST({scope['clock']} AS BIGINT)-MOD(CAST({scope['clock']} AS BIGINT),{dice.pick([60, 300, 7200])}))",
                    f"CASE WHEN {self.condition(scope, 0)} THEN {column} END",
                    f"coalesce(nullif({column}, {dice.between(0, 5)}), -1)",
                    f"{column}::bigint",
                    f"greatest({column}, {dice.between(0, 9)})",
                    "1",
                    f"{dice.between(0, 3)}",
                ]
            )
        return dice.pick(
            [
                f"({column} + 1)",
                f"-{column}",
                f"({column} * 2)",
                f"CASE WHEN {self.condition(scope, 0)} THEN {column} ELSE {dice.between(0, 5)} END",
                f"coalesce({column}, 0)",
                f"nullif({column}, 1)",
                f"({column} > 10)::integer",
            ]
        )

    def texts_of(self, scope):
        """An expression that makes a text from a column."""
        column = self.dice.pick(scope.of_kind(("txt", "vch")) or ["'none'"])
        return self.dice.pick(
            [
                column,
                f"upper({column})",
                f"left({column}, 9)",
                f"length({column})",
                f"md5({column})",
                f"{column} || '!'",
            ]
        )

    def target(self, scope):
        """A target."""
        dice = self.dice
        choice = dice.below(14)
        if choice < 6:
            column = dice.pick(list(scope.columns))
            return Target(scope[column], scope.columns[column])
        if choice < 9:
            return Target(self.expression(scope, NUMBER), "num", self.alias())
        if choice == 9:
            return Target(scope.row, "row", self.alias())
        if choice == 10:
            return Target(self.texts_of(scope), "txt", self.alias())
        if choice == 11:
            return Target(f"({self.condition(scope, 0)})", "bool", self.alias())
        if choice == 12:
            return Target(
                dice.pick(
                    [
                        f"({scope.row}).{dice.pick(list(scope.columns))}",
                        f"to_timestamp({scope['clock']}) AT TIME ZONE 'UTC'",
                        f"{scope.row}.ctid IS NOT NULL",
                        f"{scope.row}.tableoid <> 0",
                        f"row_to_json({scope.row})->>'clock'",
                        f"(SELECT name FROM items i WHERE i.itemid = {scope.row}.itemid)",
                        f"(SELECT max(clock) FROM {dice.pick(list(self.tables))} x WHERE x.itemid = {scope['itemid']})",
                        f"newest({scope['itemid']})",
                    ]
                ),
                "txt",
                self.alias(),
            )
        return Target(
            dice.pick(["1", "NULL", "'a'", "2.5", "now() IS NULL", "$$x$$::text"]),
            "txt",
            self.alias(),
        )

    def alias(self):
        """A name, or none."""
        return self.dice.pick([None, None, "a", "clock", "itemid", "value", "c", '"Q"'])

    def aggregate(self, scope, select):
        """An aggregate."""
        dice = self.dice
        numbers = scope.of_kind(("f8", "num")) or [scope["clock"]]
        choice = dice.below(26)
        column = dice.pick(numbers + ([scope["clock"]] if dice.chance(30) else []))
        if choice < 12:
            function = dice.pick(["count", "min", "max", "sum", "avg"])
            sql = f"{function}({column})"
        elif choice == 12:
            sql = "count(*)"
        elif choice == 13:
            sql = f"{dice.pick(['sum', 'avg', 'count', 'max', 'min'])}({dice.pick(['1', '2.5', 'NULL::integer', scope['itemid'], '0::float8'])})"
        elif choice in (14, 15):
            sql = f"{dice.pick(['sum', 'avg', 'count', 'max', 'min'])}({self.expression(scope, NUMBER)})"
        elif choice == 16:
            sql = f"count(DISTINCT {dice.pick(list(map(scope.__getitem__, scope.columns)))})"
        elif choice == 17:
            sql = f"{dice.pick(['stddev', 'variance', 'var_pop', 'stddev_pop', 'stddev_samp'])}({column})"
            select.is_rough = True
        elif choice == 18:
            sql = f"{dice.pick(['bool_and', 'bool_or', 'every'])}({self.condition(scope, 0)})"
        elif choice == 19:
            order = ", ".join(
                f"{scope[c]} {dice.pick(['', 'DESC'])}"
                for c in [*reversed(scope.table.key), *scope.table.values]
            )
            sql = f"array_agg({column} ORDER BY {order}){dice.pick(['', '[1]', '[1]', '[2]'])}"
        elif choice == 20:
            column = dice.pick(scope.of_kind(("txt", "vch")) or ["'z'"])
            order = ", ".join(scope[c] for c in scope.columns)
            sql = f"md5(string_agg({column}, ',' ORDER BY {order}))"
        elif choice == 21:
            sql = f"percentile_{dice.pick(['disc', 'cont'])}(0.5) WITHIN GROUP (ORDER BY {column})"
            select.is_rough = True
        elif choice == 22:
            sql = f"sum({scope['clock']})"
        elif choice == 23:
            texts = scope.of_kind(("txt", "vch"))
            sql = (
                f"{dice.pick(['min', 'max', 'count'])}({dice.pick(texts)})" if texts else "count(*)"
            )
        elif choice == 24:
            sql = f"count({scope.row})"
        else:
            order = ["clock", *scope.table.key[2:]]
            # for a single item these have only one possible result
            if select.group_kind or scope["itemid"] not in select.group or len(select.source) > 1:
                order += [c for c in scope.columns if c not in order]
            direction = dice.pick(["", " DESC"])
            order = ", ".join(scope[c] + direction for c in order)
            sql = f"(array_agg({column} ORDER BY {order}))[1]"
        if dice.chance(12) and not sql.startswith(("(", "md5", "array")):
            sql += f" FILTER (WHERE {self.condition(scope, 0)})"
        return Target(sql, "num", self.alias())

    def group_key(self, scope):
        """A grouping key: of item and clock, or another one."""
        dice, clock = self.dice, scope["clock"]
        width, period = dice.pick([10, 300, 900]), dice.pick([HOUR, DAY, 2 * DAY])
        return dice.pick(
            [
                scope["itemid"],
                scope["itemid"],
                f"CAST({clock} AS BIGINT)-MOD(CAST({clock} AS BIGINT),{dice.pick([60, 300, 3600])})",
                f"round({width}.0*({clock}-{dice.pick(DAYS)})/{period},0)",
                f"round({width}*MOD(CAST({clock} AS BIGINT)+{dice.below(HOUR)},{period})/({period}),0)",
                f"{clock} / 3600",
                f"{clock} / 3600 * 3600",
                f"date_trunc('hour', to_timestamp({clock}))",
                f"to_timestamp({clock})::date",
                f"floor({clock} / 600.0)",
                clock,
                f"{scope['itemid']} % 3",
                dice.pick(list(map(scope.__getitem__, scope.columns))),
            ]
        )

    # ---- shapes ----

    def scope(self, names=None):
        """A table, with or without an alias."""
        table = self.tables[self.dice.pick(list(names or self.tables))]
        return Scope(table, self.dice.pick(["", "h", "h", "t1"]))

    def everything(self, scope):
        """All columns, written in one of several ways."""
        choice = self.dice.below(3)
        if choice == 0:
            names = [scope[c] for c in scope.columns]
            return [Target("*" if not scope.alias else f"{scope.alias}.*", "all", None, names)]
        columns = list(scope.columns) if choice == 1 else self.dice.some(list(scope.columns))
        return [Target(scope[c], scope.columns[c]) for c in columns]

    def by_clock(self, scope, select, is_full=None):
        """ORDER BY clock in a direction, with or without ns."""
        direction = self.dice.pick(
            [" DESC", " DESC", " DESC", "", " ASC", " DESC NULLS LAST", " NULLS FIRST"]
        )
        select.order = [(scope["clock"], direction)]
        if scope.table.has_ns and self.dice.chance(60):
            select.order.append((scope["ns"], direction if self.dice.chance(85) else ""))

    def rows_of_item(self):
        """The rows of an item by clock: value cache, latest data, history.get."""
        dice, scope = self.dice, self.scope()
        select = Select(self.everything(scope), [scope.source])
        select.conditions = [self.of_item(scope), *self.of_clock(scope)]
        if dice.chance(15) and scope.table.has_ns:
            select.conditions.append(
                f"{scope['ns']} {dice.pick(['=', '<=', '>'])} {dice.pick([0, 7, 999999999])}"
            )
        if dice.chance(70):
            self.by_clock(scope, select)
        if dice.chance(60):
            self.limit(select)
        return select, scope

    def of_value(self, scope):
        """A comparison that does not help an index on item and clock."""
        dice, column = self.dice, scope[scope.table.value]
        kind = scope.columns[scope.table.value]
        if dice.chance(25):
            ns = scope[scope.table.key[-1]]
            return dice.pick(
                [
                    f"{ns} <> {self.given(dice.pick([0, 7]), 'integer')}",
                    f"{scope['clock']} + 0 >= {dice.pick(DAYS)}",
                    f"{scope['clock']} <> {self.clock(scope.table)}",
                    f"{scope['clock']} > {ns}",
                    f"{scope['itemid']} + {ns} < {dice.between(1, 2000)}",
                    f"{scope['clock']} IN ({self.clock(scope.table)}, {dice.pick(DAYS)})",
                ]
            )
        if kind in ("f8", "num"):
            number = self.given(dice.between(-500, 1500), "numeric" if kind == "num" else "float8")
            sign = dice.pick(["=", "<", ">", "<=", ">=", "<>"])
            return dice.pick(
                [
                    f"{column} {sign} {number}",
                    f"{column} {sign} {number}",
                    f"{number} {sign} {column}",
                    f"{column} BETWEEN {number} AND {self.given(900, 'integer')}",
                    f"{column} {sign} ALL ('{{5,900}}')",
                    f"abs({column}) {sign} {number}",
                    f"{column} {sign} {dice.pick([str(BIG), '1e30', '0.5', '-0.0'])}",
                ]
            )
        if kind == "bin":
            return f"{column} {dice.pick(['=', '<>', '>'])} '\\x00ff'"
        return f"{column} " + dice.pick(
            ["<> ALL ('{up,down}')", "LIKE 'n%'", "NOT ILIKE '%U%'", ">= 'n'", "= ''", "~ '^.{3}$'"]
        )

    def rows_of_values(self):
        """Rows of items with further conditions, or aggregates of them."""
        dice, scope = self.dice, self.scope()
        select = Select(self.everything(scope), [scope.source])
        select.conditions = [self.of_item(scope), *self.of_clock(scope)]
        select.conditions += [self.of_value(scope) for _ in range(dice.pick([0, 1, 1, 1, 2]))]
        if dice.chance(40):
            self.by_clock(scope, select)
            if dice.chance(60):
                self.limit(select)
            return select, scope
        columns = scope.of_kind(NUMBER)
        select.targets = []
        for _ in range(dice.pick([1, 1, 2, 4])):
            column = dice.pick(columns)
            sql = dice.pick(
                ["count(*)", "count(*)", *(f"{f}({column})" for f in ("count", "sum", "avg"))]
                + [f"{f}({column})" for f in ("min", "max", "max")]
            )
            select.targets.append(Target(sql, "num", self.alias()))
        return select, scope

    def limit(self, select):
        """LIMIT, OFFSET, WITH TIES."""
        dice = self.dice
        number = dice.pick([1, 1, 2, 3, 10, 100, 0])
        select.limit = self.given(number, "bigint") if dice.chance(25) else str(number)
        if dice.chance(15):
            select.offset = str(dice.between(0, 5))
        if select.order and dice.chance(8):
            select.ties, select.limit = True, str(number)
        elif dice.chance(40) and not any(t.kind == "all" for t in select.targets):
            select.order_totally()

    def one_of_each(self):
        """The newest or oldest clock or row of each item."""
        dice, scope = self.dice, self.scope()
        choice = dice.below(6)
        item, clock = scope["itemid"], scope["clock"]
        conditions = [f"{item} {self.items()}"] if dice.chance(70) else []
        if dice.chance(50):
            conditions += self.of_clock(scope)
        if choice == 0:
            select = Select(
                [
                    Target(item, "i8"),
                    Target(f"{dice.pick(['max', 'min'])}({clock})", "i4", "clock"),
                ],
                [scope.source],
            )
            select.group = [item]
        elif choice == 1:
            select = Select([Target(item, "i8")], [scope.source])
            select.distinct = "DISTINCT "
        elif choice == 2:
            select = Select([Target(item, "i8")], [scope.source])
            select.group = [item]
        elif choice == 3:
            select = Select([Target(f"{dice.pick(['max', 'min'])}({clock})", "i4")], [scope.source])
        elif choice == 4:
            direction = dice.pick([" DESC", ""])
            select = Select(self.everything(scope), [scope.source])
            select.distinct = f"DISTINCT ON ({item}) "
            select.order = [(item, "")] + [(scope[c], direction) for c in scope.table.key[1:]]
            select.is_total = True
        else:
            select = Select([Target(f"{dice.pick(['max', 'min'])}({clock})", "i4")], [scope.source])
            conditions = [f"{item} = {self.item()}"] + self.of_clock(scope)
            if dice.chance(30):
                select.having = [
                    dice.pick(["count(*) > 0", f"max({clock}) > {dice.pick(DAYS)}", "false"])
                ]
        select.conditions = conditions
        if dice.chance(20) and choice < 3:
            select.order = [(item, dice.pick(["", " DESC"]))]
        return select, scope

    def graph(self):
        """Values by item and interval: graphs, top lists, trends."""
        dice, scope = self.dice, self.scope()
        keys = [scope["itemid"]] if dice.chance(70) else []
        keys += [self.group_key(scope) for _ in range(dice.below(3) if keys else 1)]
        keys = list(dict.fromkeys(keys))
        select = Select([], [scope.source])
        shown = keys if dice.chance(75) else dice.some(keys)
        select.targets = [Target(k, "num", dice.pick([None, "i", "tick"])) for k in shown]
        select.group = keys
        if dice.chance(8):
            select.group_kind = dice.pick(["ROLLUP ", "CUBE ", "GROUPING SETS "])
            if select.group_kind == "CUBE " and len(keys) > 2:
                select.group_kind = "ROLLUP "
        if not select.group_kind and dice.chance(8):
            select.group, select.targets = [], []
        select.targets = select.targets + [
            self.aggregate(scope, select) for _ in range(dice.between(1, 4))
        ]
        select.conditions = ([self.of_item(scope)] if dice.chance(80) else []) + self.of_clock(
            scope
        )
        if dice.chance(12):
            select.having = [
                dice.pick(
                    [
                        "count(*) > 2",
                        f"max({scope['clock']}) > {dice.pick(DAYS)}",
                        f"sum({scope['clock']}) IS NOT NULL",
                    ]
                )
            ]
        # grouping sets by a key that a condition makes constant are not ordered
        if select.group and not select.group_kind and dice.chance(40):
            select.order = [(k, dice.pick(["", " DESC"])) for k in keys if k in shown]
        if select.group_kind and dice.chance(40):
            select.targets.append(Target(f"grouping({keys[0]})", "i4"))
        if dice.chance(15) and not select.group_kind:
            self.limit(select)
        return select, scope

    def keys(self):
        """Rows by lists of keys, or by ranges of items."""
        dice, scope = self.dice, self.scope()
        select = Select(self.everything(scope), [scope.source])
        table, choice = scope.table, dice.below(5)
        rows = [
            (
                dice.pick([1, 2, 4, 4, 5, 6]),
                dice.pick([some_clock(dice, table), dice.pick(DAYS) + HOUR, dice.pick(DAYS)]),
                dice.pick([0, 7, 14]),
            )
            for _ in range(dice.pick([1, 2, 8, 9, 12, 40]))
        ]
        names = [scope[c] for c in table.key]
        lists = [row[: len(names)] for row in rows]
        if choice < 2:
            sign = dice.pick(["=", "=", ">="])
            terms = [
                "("
                + " AND ".join(
                    f"{n} {'=' if i == 0 else sign} {v}" for i, (n, v) in enumerate(zip(names, row))
                )
                + ")"
                for row in lists
            ]
            select.conditions = ["(" + " OR ".join(terms) + ")"]
        elif choice == 2:
            values = ", ".join(f"({', '.join(map(str, row))})" for row in lists)
            select.conditions = [f"({', '.join(names)}) IN ({dice.pick(['VALUES ', ''])}{values})"]
        elif choice == 3:
            values = ", ".join(f"({', '.join(map(str, row))})" for row in lists)
            on = " AND ".join(f"v.{c} = {n}" for c, n in zip(table.key, names))
            select.source.append(f"JOIN (VALUES {values}) v({', '.join(table.key)}) ON {on}")
            select.targets = [
                Target(scope[c] if scope.alias else f"{table.name}.{c}", k)
                for c, k in table.columns.items()
            ]
            if not scope.alias:
                select.source = [
                    table.name,
                    select.source[1]
                    .replace(" ON ", " USING (" + ", ".join(table.key) + ") -- ")
                    .split(" -- ")[0],
                ]
        else:
            terms = [
                f"({names[0]} = {row[0]} AND {names[1]} BETWEEN {row[1]} AND {row[1] + dice.pick([60, HOUR, DAY])})"
                for row in lists
            ]
            select.conditions = ["(" + " OR ".join(terms) + ")"]
        if dice.chance(25):
            self.by_clock(scope, select)
        return select, scope

    def pages(self):
        """Pages, by a key that is compared as a row or column by column."""
        dice, scope = self.dice, self.scope()
        table = scope.table
        select = Select(self.everything(scope), [scope.source])
        key = dice.pick([table.key, table.key, table.key[1:], table.key[:2], ["clock"], ["itemid"]])
        direction, sign = dice.pick([("", ">"), ("", ">="), (" DESC", "<"), (" DESC", "<=")])
        last = {
            "itemid": dice.between(0, 7),
            "clock": some_clock(dice, table),
            "ns": dice.pick([0, 7, 21]),
        }
        names, values = [scope[c] for c in key], [self.given(last[c], "bigint") for c in key]
        if dice.chance(60):
            select.conditions = [f"({', '.join(names)}) {sign} ({', '.join(values)})"]
        elif dice.chance(70):
            terms = []
            for at, name in enumerate(names):
                equal = [f"{n} = {v}" for n, v in zip(names[:at], values)]
                terms.append(" AND ".join([*equal, f"{name} {sign} {values[at]}"]))
            select.conditions = [f"({' OR '.join(f'({t})' for t in terms)})"]
        if "itemid" not in key or dice.chance(20):
            select.conditions.append(self.of_item(scope))
        if dice.chance(20):
            select.conditions += self.of_clock(scope)
        if dice.chance(10):
            key = dice.pick([list(reversed(key)), ["clock", "itemid"], [*key, table.value]])
        select.order = [(scope[c], direction) for c in key]
        if dice.chance(10):
            select.order[-1] = (select.order[-1][0], dice.pick([" DESC", "", " NULLS FIRST"]))
        if dice.chance(85):
            self.limit(select)
            select.is_total = select.is_total or set(table.key) <= set(key)
        return select, scope

    def extremes(self):
        """The first and the last row of a table, of an item, of a column."""
        dice, scope = self.dice, self.scope()
        column = dice.pick(
            ["clock", "clock", "clock", "itemid", scope.table.value, scope.table.key[-1]]
        )
        if scope.columns[column] == "bin":
            column = "clock"
        name = scope[column]
        kinds = [
            f"min({name})",
            f"max({name})",
            f"max({name}), min({name})",
            "count(*)",
            f"max({scope['clock']})",
        ]
        kinds += [
            f"coalesce(max({scope['clock']}), -1)",
            f"max({scope['clock']})::bigint - min({scope['clock']})",
        ]
        kinds += [
            f"max({scope['clock']} + 0)",
            f"min({name}) FILTER (WHERE {self.condition(scope, 0)})",
        ]
        kinds += [
            f"count(DISTINCT {scope['itemid']})",
            f"max(DISTINCT {name})",
            f"max({scope['itemid']}::text)",
        ]
        texts = [dice.pick(kinds) for _ in range(dice.pick([1, 1, 1, 2, 3]))]
        if dice.chance(15):
            where = dice.pick(["", f" WHERE {self.of_item(scope)}"])
            if self.parameters is None:
                texts = [
                    f"(SELECT {text.split(', ')[0]} FROM {scope.source}{where})" for text in texts
                ]
                return Select([Target(text, "txt") for text in texts], []), None
        select = Select(
            [Target(t, "num") for text in texts for t in text.split(", ")], [scope.source]
        )
        if dice.chance(25):
            direction = dice.pick(["", " DESC", " DESC NULLS LAST"])
            select.targets = [Target(name, scope.columns[column])]
            select.order, select.limit = [(name, direction)], dice.pick(["1", "1", "2", "9"])
        if dice.chance(40):
            select.conditions.append(self.of_item(scope))
        if dice.chance(40):
            select.conditions += self.of_clock(scope)
        if dice.chance(15):
            select.conditions.append(self.condition(scope))
        return select, None if select.order else scope

    def whole(self):
        """Aggregates of one table alone, which are computed from segments."""
        dice, scope = self.dice, self.scope()
        item, clock = scope["itemid"], scope["clock"]
        keys = dice.pick(
            [
                [],
                [],
                [item],
                [item],
                [clock],
                [item, clock],
                [f"{clock} / {dice.pick([60, 3600, 86400, 7])}"],
                [item, f"{clock} - {clock} % {dice.pick([60, 3600, 86400])}"],
                [f"{item}::text"],
                [f"{item} + 1"],
                [f"{item} % 2", f"{clock} / 86400"],
                [f"to_timestamp({clock})::date"],
            ]
        )
        select = Select([Target(k, "num") for k in keys], [scope.source])
        select.group = list(keys)
        numbers = scope.of_kind(("f8", "num")) or [clock]
        for _ in range(dice.pick([1, 1, 2, 3, 5])):
            column = dice.pick(numbers + [clock])
            target = self.aggregate(scope, select)
            if dice.chance(40):
                target = Target(
                    dice.pick(
                        [
                            "count(*)",
                            f"count({column})",
                            f"sum({column})",
                            f"avg({column})",
                            f"min({column})",
                            f"max({column})",
                            f"max({column})::numeric - min({column})",
                            f"coalesce(sum({column}), 0)",
                            f"count(*) FILTER (WHERE {clock} > {dice.pick(DAYS)})",
                            f"sum({column}) FILTER (WHERE {item} < {dice.between(1, 6)})",
                            f"count(*) * 2 + max({item})",
                            f"sum({column}) / nullif(count(*), 0)",
                            f"min({clock}) IS NULL",
                        ]
                    ),
                    "num",
                    self.alias(),
                )
            select.targets.append(target)
        if dice.chance(50):
            select.conditions.append(self.of_item(scope))
        if dice.chance(60):
            select.conditions += self.of_clock(scope)
        if dice.chance(10):
            select.conditions.append(self.condition(scope))
        if dice.chance(15):
            select.having = [
                dice.pick(
                    [
                        "count(*) > 1",
                        f"min({clock}) < {dice.pick(DAYS)}",
                        f"max({dice.pick(numbers)}) > 5",
                    ]
                )
            ]
        if keys and dice.chance(40):
            select.order = [(k, dice.pick(["", " DESC", " DESC NULLS LAST"])) for k in keys]
            if dice.chance(50):
                select.limit, select.is_total = dice.pick(["1", "3", "10"]), True
        return select, scope

    def first_of_interval(self):
        """Zabbix's join with the first or last clock of each interval."""
        dice = self.dice
        name = dice.pick([t for t in self.tables if t.startswith("history")] or ["history"])
        scope = Scope(self.tables.get(name, TABLES[name]), "h")
        low = dice.pick(DAYS) + dice.between(-HOUR, HOUR)
        high, step = low + dice.pick([HOUR, DAY]), dice.pick([300, 3600])
        function = dice.pick(["MAX", "MIN"])
        tick = f"CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),{step})"
        inner = (
            f"SELECT itemid,{tick} AS tick,{function}(clock) AS clock FROM {name} WHERE itemid {self.items()}"
            f" AND clock BETWEEN {low} AND {high} GROUP BY itemid,{tick}"
        )
        middle = (
            f"SELECT h2.itemid,h2.clock,{function}(h2.ns) AS ns,s2.tick FROM {name} h2 JOIN ({inner}) s2"
            f" ON h2.itemid=s2.itemid AND h2.clock=s2.clock WHERE h2.clock BETWEEN {low} AND {high}"
            " GROUP BY h2.itemid,h2.clock,s2.tick"
        )
        select = Select(
            [Target(sql, "num") for sql in ("h.itemid", "h.value", "h.clock", "h.ns", "s.tick")],
            [
                f"{name} h",
                f"JOIN ({middle}) s ON h.itemid=s.itemid AND h.clock=s.clock AND h.ns=s.ns",
            ],
        )
        if dice.chance(80):
            select.conditions = [f"h.clock BETWEEN {low} AND {high}"]
        return select, scope

    def lateral(self):
        """The newest rows of each item in another table."""
        dice = self.dice
        scope = Scope(self.scope().table, "h")
        inner = Select(self.everything(scope), [scope.source])
        inner.conditions = [f"{scope['itemid']} = i.itemid"]
        if dice.chance(50):
            inner.conditions.append(
                f"{scope['clock']} {dice.pick(['>', '<='])} {dice.pick(['i.lo', 'i.hi', str(dice.pick(DAYS))])}"
            )
        inner.order = [(scope[c], dice.pick([" DESC", " DESC", ""])) for c in scope.table.key[1:]]
        inner.limit, inner.is_total = str(dice.pick([1, 2, 5])), True
        kind = dice.pick(["CROSS JOIN LATERAL", "LEFT JOIN LATERAL", "JOIN LATERAL"])
        on = "" if kind.startswith("CROSS") else " ON true"
        select = Select(
            [Target("i.itemid", "i8"), Target("l.*", "all")],
            ["items i", f"{kind} ({inner.text()}) l{on}"],
        )
        if dice.chance(40):
            select.conditions = [f"i.itemid {self.items()}"]
        return select, None

    def joined(self):
        """Joins, and aggregates of joins."""
        dice = self.dice
        scope = Scope(self.scope().table, "h")
        kind = dice.pick(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
        select = Select(
            [],
            [
                "items i",
                f"{kind} {scope.source} ON h.itemid = i.itemid"
                + (
                    f" AND h.clock > {dice.pick(['i.lo', str(dice.pick(DAYS))])}"
                    if dice.chance(40) and kind != "FULL JOIN"
                    else ""
                ),
            ],
        )
        select.conditions = [self.condition(scope) for _ in range(dice.below(2))] + self.of_clock(
            scope
        )
        if dice.chance(50):
            select.group = dice.some(["i.itemid", "i.name", "i.kind", "h.clock / 3600"])
            select.targets = [Target(k, "num") for k in select.group]
            select.targets += [self.aggregate(scope, select) for _ in range(dice.between(1, 3))]
            select.targets += (
                [Target(dice.pick(["sum(i.lo)", "count(i.kind)", "max(i.name)"]), "num")]
                if dice.chance(40)
                else []
            )
        else:
            select.targets = [Target("i.name", "txt"), *[self.target(scope) for _ in range(3)]]
        if dice.chance(25):
            other = Scope(self.scope().table, "o")
            select.source.append(
                f"JOIN {other.source} ON o.itemid = h.itemid AND o.clock = h.clock AND o.itemid < 5"
            )
        return select, scope

    def of_view(self):
        """Through a view, a CTE or a subquery with UNION ALL."""
        dice = self.dice
        view, columns = dice.pick(
            [
                ("recent", "itemid:i8 clock:i4 value:f8 ns:i4"),
                ("per_item", "itemid:i8 n:i8 min:f8 highest:f8 clock:i4"),
                ("both_kinds", "itemid:i8 clock:i4 value:num"),
            ]
        )
        table = Table(view, columns)
        scope = Scope(table, dice.pick(["", "h"]))
        table.key = list(table.columns)
        select = Select(self.everything(scope), [scope.source])
        select.conditions = [self.of_item(scope), *self.of_clock(scope)]
        if dice.chance(30):
            select.group = [scope["itemid"]]
            select.targets = [Target(scope["itemid"], "i8"), self.aggregate(scope, select)]
        return select, None

    def recursive(self):
        """From one row to the next by a recursive CTE; the distinct items by a loose index
        scan."""
        dice = self.dice
        table = self.scope().table
        if dice.chance(50):
            cte = (
                f"r AS ((SELECT itemid FROM {table.name} ORDER BY itemid LIMIT 1) UNION ALL"
                f" SELECT (SELECT h.itemid FROM {table.name} h WHERE h.itemid > r.itemid ORDER BY h.itemid LIMIT 1)"
                " FROM r WHERE r.itemid IS NOT NULL)"
            )
            select = Select([Target("itemid", "i8")], ["r"])
        else:
            cte = (
                f"r AS (SELECT {dice.pick(DAYS)} AS clock, 0 AS n UNION ALL SELECT (SELECT min(h.clock) FROM {table.name} h"
                f" WHERE h.itemid = {dice.between(1, 5)} AND h.clock > r.clock), n + 1 FROM r WHERE n < 12 AND r.clock IS NOT NULL)"
            )
            select = Select([Target("clock", "i4"), Target("n", "i4")], ["r"])
        select.ctes = [cte]
        return select, None

    def window(self):
        """Window functions."""
        dice, scope = self.dice, self.scope()
        key = ", ".join(scope[c] for c in scope.table.key)
        part = dice.pick(
            ["", f"PARTITION BY {scope['itemid']} ", f"PARTITION BY {scope['clock']} / 3600 "]
        )
        column = dice.pick(scope.of_kind(NUMBER))
        select = Select(
            [Target(scope["itemid"], "i8"), Target(scope["clock"], "i4")], [scope.source]
        )
        for _ in range(dice.between(1, 2)):
            select.targets.append(
                Target(
                    dice.pick(
                        [
                            f"row_number() OVER ({part}ORDER BY {key})",
                            f"lag({column}) OVER ({part}ORDER BY {key})",
                            f"sum({scope['clock']}) OVER ({part}ORDER BY {scope['clock']})",
                            f"count(*) OVER ({part})",
                            f"rank() OVER ({part}ORDER BY {scope['clock']} DESC)",
                            f"first_value({column}) OVER ({part}ORDER BY {key})",
                            f"max({column}) OVER ({part}ORDER BY {key} ROWS 3 PRECEDING)",
                        ]
                    ),
                    "num",
                    "w",
                )
            )
        select.conditions = [self.of_item(scope), *self.of_clock(scope)]
        return select, scope

    def any_rows(self):
        """Rows by any conditions."""
        dice, scope = self.dice, self.scope()
        select = Select([self.target(scope) for _ in range(dice.between(1, 4))], [scope.source])
        select.conditions = [self.condition(scope) for _ in range(dice.between(0, 3))]
        if dice.chance(50):
            select.conditions.append(self.of_item(scope))
        if dice.chance(20):
            select.distinct = "DISTINCT "
        if dice.chance(35):
            self.limit(select)
        return select, scope

    def failing(self):
        """An expression that may fail for a row's value."""
        dice, scope = self.dice, self.scope()
        number = dice.pick(scope.of_kind(("num", "f8")) or [scope["clock"]])
        sql = dice.pick(
            [
                f"{number}::integer",
                f"1 / ({scope['clock']} % 7)",
                f"{number}::bigint",
                f"sum({number}::smallint)",
                f"max(1 / ({scope['itemid']} - 4))",
            ]
        )
        select = Select([Target(sql, "num")], [scope.source])
        select.conditions = [self.of_item(scope), *self.of_clock(scope)]
        return select, None

    # ---- some steps away ----

    def changed(self, select, scope):
        """Changes the statement by one step away from the shape."""
        dice = self.dice
        step = dice.below(14)
        is_grouped = bool(
            select.group
            or select.having
            or any("(" in t.sql and t.kind == "num" for t in select.targets)
        )
        if scope is None or step == 0 and not select.is_determined():
            return select, scope
        if step < 2 and select.is_determined() and not select.locking:
            return self.nested(select), None
        if step == 2:
            select.conditions.append(self.condition(scope))
        elif step == 3 and not is_grouped and not select.distinct:
            select.targets.append(self.target(scope))
        elif step == 4 and select.group and not select.group_kind:
            select.targets.append(self.aggregate(scope, select))
        elif step == 5 and not is_grouped and len(select.source) == 1:
            select.targets += (
                [
                    Target(
                        f"(SELECT name FROM items i WHERE i.itemid = {scope.row}.itemid)",
                        "txt",
                        "n",
                    )
                ]
                if not select.distinct
                else []
            )
        elif (
            step == 6
            and not select.limit
            and not select.order
            and not select.distinct
            and not any(t.kind in ("all", "row") for t in select.targets)
        ):
            other = Select(select.targets, select.source)
            other.conditions, other.group, other.having = (
                select.conditions[:-1],
                select.group,
                select.having,
            )
            if dice.chance(60):
                other.conditions = [*other.conditions, self.condition(scope)]
            if not select.group_kind:
                kinds = ["UNION ALL", "UNION", "EXCEPT", "INTERSECT", "EXCEPT ALL"]
                # rough sums are not compared with each other
                select.operation = (kinds[0] if select.is_rough else dice.pick(kinds), other)
        elif step == 7 and len(select.conditions) > 1:
            select.conditions.pop(dice.below(len(select.conditions)))
        # DISTINCT with grouping sets loses rows in PostgreSQL before 18
        elif (
            step == 8
            and not select.limit
            and not select.distinct
            and not select.group_kind
            and not select.is_rough
            and not any(t.kind == "all" for t in select.targets)
        ):
            select.distinct = "DISTINCT "
            select.order = []
        elif step == 9:
            for condition in list(select.conditions):
                if " OR " not in condition and dice.chance(40):
                    select.conditions.remove(condition)
                    select.conditions.append(f"({condition} OR {self.condition(scope, 0)})")
        elif (
            step == 10
            and not is_grouped
            and not select.distinct
            and not select.operation
            and select.is_determined()
        ):
            select.locking = dice.pick(
                ["FOR UPDATE", "FOR SHARE", "FOR KEY SHARE", "FOR NO KEY UPDATE"]
            )
        return select, scope

    def nested(self, select):
        """Puts the statement into a subquery, a CTE, or below a count."""
        dice = self.dice
        # rough sums are not converted to text
        choice = dice.pick([0, 1, 4, 5]) if select.is_rough else dice.below(6)
        if choice == 0:
            return Select([Target("count(*)", "i8")], [f"({select.text()}) s"])
        if choice == 1:
            outer = Select([Target("s.*", "all")], ["s"])
            outer.ctes = [
                f"s AS {dice.pick(['', 'MATERIALIZED ', 'NOT MATERIALIZED '])}({select.text()})"
            ]
        elif choice == 2:
            outer = Select([Target("s", "row")], [f"({select.text()}) s"])
        elif choice == 3:
            outer = Select(
                [Target(f"ARRAY(SELECT s::text FROM ({select.text()}) s ORDER BY 1)", "txt")], []
            )
        elif choice == 4:
            outer = Select(
                [Target("i.itemid", "i8"), Target("s.*", "all")],
                ["items i", f"LEFT JOIN ({select.text()}) s ON i.itemid < {dice.between(1, 4)}"],
            )
        else:
            outer = Select([Target(f"EXISTS ({select.text()})", "bool")], [])
        outer.is_rough = select.is_rough
        return outer

    def make(self, is_prepared=False):
        """Any statement."""
        dice = self.dice
        if not is_prepared and dice.chance(3):
            return self.functions.make()
        self.parameters = [] if is_prepared or dice.chance(20) else None
        shape = dice.weighted(
            [
                (20, self.rows_of_item),
                (9, self.rows_of_values),
                (14, self.one_of_each),
                (22, self.graph),
                (7, self.keys),
                (7, self.pages),
                (6, self.extremes),
                (12, self.whole),
                (4, self.first_of_interval),
                (5, self.lateral),
                (7, self.joined),
                (4, self.of_view),
                (2, self.recursive),
                (4, self.window),
                (10, self.any_rows),
                (1, self.failing),
            ]
        )
        select, scope = shape()
        if shape != self.failing:
            for _ in range(dice.pick([0, 0, 0, 1, 1, 2, 3])):
                select, scope = self.changed(select, scope)
        parameters, self.parameters = self.parameters, None
        return statement_of(select, parameters)
