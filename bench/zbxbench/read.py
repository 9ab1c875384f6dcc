"""The read experiment: what Zabbix and people ask, with the default settings.

The statements are in bench/data/read.sql, or in the file of --questions.  Settings that planning
depends on are those of a fresh PostgreSQL.  Each shape of statement is sent for past days, which
zbxhist has packed, and for the hour that is being written, before and after ANALYZE.  Measured is
the CPU of the backend and its parallel workers.  Answers are compared.
"""

import math
import random
import re
import time

from . import counters, environment, libpq, periods, plots, results, spread
from .cluster import OWNER, SUPERUSER
from .experiment import bench, names_of
from .life_days import Lines
from .progress import Progress
from .simclock import SimulatedClock
from .stores import STORES, schema

NAME = "read"
HELP = "CPU of each kind of SELECT that Zabbix and people send, for past days and the current hour"
DEFAULT_STORES = ["plain", "native", "partman", "timescaledb", "zbxhist-setup"]
REFERENCE = "plain"
RED = 1.2  # what is above it has a star

PAST, HOT = "past days", "hour being written"
STATES = ("not analysed", "analysed")
# those of a fresh PostgreSQL, instead of the other experiments'
SETTINGS = {
    "work_mem": "4MB",
    "jit": "on",
    "random_page_cost": "4",
    "effective_cache_size": "4GB",
    "effective_io_concurrency": "1",
    "checkpoint_timeout": "1d",
}
FIRST_ITEMID = 100000
ITEMS = 10  # of a list
HOSTS_ITEMS = 10  # items of a host
MANY = (5, 50, 200)  # items of a panel
KEYS = 500  # that are stored, of 1000 which are looked up
NOW = 5400  # seconds of today: an hour that is over but not packed, and half of the next
STEP = 60  # of the values of today
ROWS = 1000  # of an INSERT
SPAN = 7  # days that are asked for
PATIENCE = "60s"
# turns the rows of a packed day into ordinary ones, and packs them again
PACKING = {
    "timescaledb": [
        "SELECT %s_chunk(c) FROM show_chunks('history', {0.stop}, {0.start}) c" % what
        for what in ("decompress", "compress")
    ],
    "zbxhist-setup": [
        "CALL zbxhist.%s('history', '{0.date}')" % what for what in ("unpack", "pack")
    ],
}
SHORT, TIMES = 0.02, 5  # statements that take less seconds are sent this many times in a round


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument("--stores", help="comma-separated (default: %s)" % ",".join(DEFAULT_STORES))
    parser.add_argument("--items", type=int, help="monitored items (default: 1000; --quick: 60)")
    parser.add_argument(
        "--interval",
        type=int,
        metavar="SECONDS",
        help="seconds between values of past days (default: 300; --quick: 3600)",
    )
    parser.add_argument("--days", type=int, help="past days (default: 30; --quick: 3)")
    parser.add_argument("--rounds", type=int, help="(default: 4; --quick: 1)")
    parser.add_argument(
        "--questions",
        choices=("read", "losses"),
        default="read",
        help="statements of this file in bench/data (default: %(default)s)",
    )


def fill_defaults(arguments):
    """Fills in the options that were not given."""
    quick = arguments.quick
    arguments.items = arguments.items or (60 if quick else 1000)
    arguments.interval = arguments.interval or (3600 if quick else 300)
    arguments.days = arguments.days or (3 if quick else 30)
    arguments.rounds = arguments.rounds or (1 if quick else 4)
    arguments.stores = names_of(arguments, DEFAULT_STORES)


def statements(questions):
    """(name, column to compare or None, text with fields) of each statement."""
    text = (environment.BENCH / "data" / (questions + ".sql")).read_text(encoding="utf-8")
    found = re.findall(r"^-- ([^\n]+?)(?: \[(\d+)\])?\n(\w.*)\n", text, re.M)
    return [(name, int(only) if only else None, sql) for name, only, sql in found]


class Data:
    """The values of all stores, the same for the same items, interval and days."""

    tables = ("history", "trends")

    def __init__(self, arguments):
        self.interval, self.days = arguments.interval, arguments.days
        self.start = periods.clock(periods.today())
        self.items = range(FIRST_ITEMID, FIRST_ITEMID + arguments.items)
        self.statements = statements(arguments.questions)
        # a floating-point number, or a number like most of Zabbix's values
        self.digits = 17 if arguments.questions == NAME else 2

    def _rows(self, table, clocks):
        """Rows of all items for each of the times, with the columns of the table."""
        dice = random.Random("%s %d" % (table, clocks.start))
        for clock in clocks:
            yield [
                (
                    (
                        item,
                        clock + item % min(60, clocks.step),
                        round(dice.random() * 100, self.digits),
                        dice.randrange(10**9),
                    )
                    if table == "history"
                    else (item, clock, 60, *sorted(dice.random() * 100 for _ in range(3)))
                )
                for item in self.items
            ]

    def past(self, table):
        """COPY text of the past days."""
        step = self.interval if table == "history" else periods.HOUR
        for rows in self._rows(
            table, range(self.start - self.days * periods.DAY, self.start, step)
        ):
            yield "".join("\t".join(map(str, row)) + "\n" for row in rows)

    def today(self, table, first, last):
        """INSERTs of today's values from one second to another."""
        step = STEP if table == "history" else periods.HOUR
        for rows in self._rows(table, range(self.start + first, self.start + last, step)):
            for place in range(0, len(rows), ROWS):
                yield "insert into %s (%s) values %s" % (
                    table,
                    schema.column_names(table),
                    ",".join(map(str, rows[place : place + ROWS])),
                )

    def fields(self, when, chooser, connection):
        """The values of the fields in a round's statements."""
        items = chooser.sample(self.items, min(max(MANY), len(self.items)))
        if when == PAST:
            span = min(SPAN, self.days)
            first, last, bucket = self.start - span * periods.DAY, self.start - 1, periods.HOUR
            since = "date_trunc('day', now()) - interval '%d days'" % span
        else:
            first, last, bucket = self.start + NOW - periods.HOUR, self.start + NOW, 300
            since = "date_trunc('hour', now())"
        lists = {"items%d" % count: ",".join(map(str, items[:count])) for count in MANY}
        step = self.interval if when == PAST else STEP
        point = first - first % step + step + items[0] % min(60, step)
        return dict(
            lists,
            item=items[0],
            items=",".join(map(str, items[:ITEMS])),
            host=items[0] // HOSTS_ITEMS,
            first=first,
            last=last,
            before=first - 1,
            span=last + 1 - first,
            since=since,
            bucket=bucket,
            point=point,
            hour=last - last % periods.HOUR - (when == HOT) * periods.HOUR,
            keys=self._keys(lists["items%d" % max(MANY)], first, last, connection),
        )

    @staticmethod
    def _keys(items, first, last, connection):
        """An OR of keys, as the server sends it after a duplicate."""
        stored = connection.execute(
            "SELECT itemid, clock, ns FROM history WHERE itemid IN (%s) AND clock BETWEEN %d AND %d "
            "ORDER BY ns LIMIT %d" % (items, first, last, KEYS)
        )
        keys = [tuple(map(int, row)) for row in stored]
        keys = sorted(keys + [(itemid, clock, ns + 1) for itemid, clock, ns in keys])
        return " or ".join("(itemid=%d and clock=%d and ns=%d)" % key for key in keys)


def dimensions(data):
    """SQL that makes the tables for joins."""
    return (
        "CREATE TABLE hosts (hostid bigint PRIMARY KEY, name text NOT NULL);"
        "CREATE TABLE items (itemid bigint PRIMARY KEY, hostid bigint NOT NULL, name text NOT NULL);"
        "CREATE INDEX ON items (hostid); CREATE INDEX ON items (name);"
        "INSERT INTO items SELECT i, i / {n}, 'item ' || i FROM generate_series({a}, {b}) i;"
        "INSERT INTO hosts SELECT DISTINCT hostid, 'host ' || hostid FROM items"
    ).format(n=HOSTS_ITEMS, a=data.items[0], b=data.items[-1])


def fill(store, data, clock):
    """Loads past days in their final form, and today as it arrives."""
    clock.set(data.start)
    days = periods.days(-data.days - 1, 1)
    store.create(data.tables, days)
    store.execute(dimensions(data))
    store.execute("GRANT pg_write_server_files TO %s" % OWNER, SUPERUSER)
    for table in data.tables:
        store.fill(table, Lines(data.past(table)))
        for day in days[:-2]:
            store.close_period(table, day)
    store.maintain()
    connection = store.open_connection()
    for first in range(0, NOW, 900):
        clock.set(data.start + first)
        for table in data.tables:
            if table == "trends" and first != periods.HOUR:
                continue
            # the trends of an hour come after it
            back = periods.HOUR if table == "trends" else 0
            for text in data.today(table, first - back, first - back + 900):
                connection.execute(text)
    connection.close()
    clock.set(data.start + NOW)
    # yesterday is old enough now to be packed
    store.maintain()
    # as autovacuum, which has not run ANALYZE yet
    store.execute("VACUUM (FREEZE)", SUPERUSER)


def _number(value):
    """Parses numbers; keeps texts and nulls."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _order(row):
    """The sort key of rows, which does not depend on the last digits of averages."""
    return [
        (0, round(value, 6), "") if isinstance(value, float) else (1, 0, value or "")
        for value in row
    ]


def _are_equal(mine, other):
    """Are two values equal except for the last digits?"""
    if isinstance(mine, float) and isinstance(other, float):
        return math.isclose(mine, other, rel_tol=1e-9, abs_tol=1e-9)
    return mine == other


class Expected:
    """The answers of one store, which the others must give, too."""

    def __init__(self, problems):
        self.problems = problems
        self.first = None

    def note(self, name, question, rows):
        """Compares rows in any order, numbers to nine digits."""
        rows = sorted(([_number(value) for value in row] for row in rows), key=_order)
        if self.first is None:
            self.first = (name, rows)
        other, expected = self.first
        if len(rows) != len(expected) or not all(
            _are_equal(mine, his)
            for row, as_expected in zip(rows, expected)
            for mine, his in zip(row, as_expected)
        ):
            self.problems.append("%s: %s: other rows than %s" % (name, question, other))


class Reader:
    """A store's connection."""

    def __init__(self, store):
        self.store = store
        self.key = store.name
        self.connection = libpq.Connection(store.dsn())
        self.connection.execute("SET statement_timeout = '%s'" % PATIENCE)

    def cpu(self):
        """CPU seconds of the backend, and of parallel workers that have ended."""
        own = counters.process_cpu(self.connection.pid)
        return own + counters.reaped_cpu(self.store.server_pid())

    def ask(self, text):
        """Returns rows, and milliseconds of CPU and of time."""
        cpu, began, count = self.cpu(), time.perf_counter(), 0
        while True:
            rows = self.connection.execute(text)
            count += 1
            took = time.perf_counter() - began
            if took / count > SHORT or count == TIMES:
                return list(rows), (self.cpu() - cpu) / count * 1e3, took / count * 1e3


def ask_round(readers, data, state, number, problems, progress):
    """Runs all statements of a round on all stores; a first run warms up."""
    chooser = random.Random(number)
    runs = []
    for when in (PAST, HOT):
        fields = data.fields(when, chooser, readers[0].connection)
        for question, only, sql in data.statements:
            text, expected = sql.format(**fields), Expected(problems)
            for reader in chooser.sample(readers, len(readers)):
                found = {"store": reader.key, "when": when, "state": state, "question": question}
                try:
                    rows, found["cpu_ms"], found["ms"] = reader.ask(text)
                except libpq.Error as error:
                    problems.append("%s: %s, %s: %s" % (reader.key, question, when, error))
                    continue
                if only is not None:
                    rows = [row[only : only + 1] for row in rows]
                expected.note(reader.key, "%s, %s" % (question, when), rows)
                if number >= 0:
                    runs.append(dict(found, rows=len(rows), round=number))
        progress.step()
    return runs


def pack_again(reader, rounds):
    """Measures what packing a day of history costs."""
    day = periods.days(-3, -3)[0]
    unpack, pack = (text.format(day) for text in PACKING[reader.key])
    runs = []
    for number in range(rounds):
        reader.connection.execute(unpack)
        cpu, began = reader.cpu(), time.perf_counter()
        reader.connection.execute(pack)
        found = {"store": reader.key, "when": PAST, "state": STATES[1], "question": "packing a day"}
        found.update(cpu_ms=(reader.cpu() - cpu) * 1e3, ms=(time.perf_counter() - began) * 1e3)
        runs.append(dict(found, rows=0, round=number))
    return runs


def measure(stores, data, clock, rounds, problems):
    """Runs both states and all rounds."""
    readers = [Reader(store) for store in stores]
    progress = Progress(len(STATES) * (rounds + 1) * 2, NAME)
    runs = []
    for state in STATES:
        if state == STATES[1]:
            for store in stores:
                store.execute("ANALYZE", SUPERUSER)
        for number in range(-1, rounds):
            progress.show("%s, round %d" % (state, number + 1))
            clock.set(data.start + NOW)
            runs += ask_round(readers, data, state, number, problems, progress)
    progress.finish()
    for reader in readers:
        if reader.key in PACKING:
            runs += pack_again(reader, rounds)
        reader.connection.close()
    return runs


# ---- summary ----


def _of(runs, **key):
    """The runs with these properties, by round."""
    chosen = (run for run in runs if all(run[name] == value for name, value in key.items()))
    return sorted(chosen, key=lambda run: run["round"])


def summarize(runs, names):
    """An entry per question, time and state, with its stores in order."""
    summary = []
    keys = dict.fromkeys((run["when"], run["question"], run["state"]) for run in runs)
    for when, question, state in keys:
        cell = {"when": when, "question": question, "state": state}
        own = {name: _of(runs, store=name, **cell) for name in names}
        cell["stores"] = {}
        for name, some in own.items():
            if some:
                cpu = [run["cpu_ms"] for run in some]
                cell["stores"][name] = {
                    "cpu_ms": spread.spread(cpu),
                    "ms": spread.spread([run["ms"] for run in some]),
                    "rows": some[0]["rows"],
                    "to_plain": _ratios(some, own.get(REFERENCE)),
                    "to_native": _ratios(some, own.get("native")),
                }
        summary.append(cell)
    return summary


def _ratios(some, others):
    """CPU relative to another store's in the same round."""
    known = {run["round"]: run["cpu_ms"] for run in others or ()}
    return spread.ratios([run["cpu_ms"] for run in some], [known.get(run["round"]) for run in some])


# ---- tables and plots ----


def _pairs(summary, when):
    """The cells of each question by state."""
    found = {}
    for cell in summary:
        if cell["when"] == when:
            found.setdefault(cell["question"], {})[cell["state"]] = cell["stores"]
    return found


def _cell_text(states, name):
    """Ratios to the plain table, before and after ANALYZE."""
    texts = []
    for state in STATES:
        ratio = (states.get(state, {}).get(name) or {}).get("to_plain")
        star = "*" if ratio and name.startswith("zbxhist") and ratio["median"] > RED else ""
        texts.append("%.2f%s" % (ratio["median"], star) if ratio else "-")
    return ", ".join(texts)


def show(result):
    """Prints a table for past days, and one for the hour."""
    summary = result["summary"]
    for when in (PAST, HOT):
        pairs = _pairs(summary, when)
        names = [
            name
            for name in result["stores"]
            if any(name in stores for states in pairs.values() for stores in states.values())
        ]
        others = [name for name in names if name != REFERENCE]
        rows = []
        for question, states in pairs.items():
            base = states.get(STATES[1], {}).get(REFERENCE)
            cells = [question, results.number(base and base["cpu_ms"]["median"], 2)]
            rows.append(cells + [_cell_text(states, name) for name in others])
        print("\n%s: CPU to a plain table's, %s" % (when, " and ".join(STATES)))
        labels = [results.judged(STORES[name].label, name, result["problems"]) for name in others]
        print(results.table(["", "plain: ms"] + labels, rows))


def draw(result, stem):
    """Plots CPU relative to the plain table, one panel per time."""
    pairs = {when: _pairs(result["summary"], when) for when in (PAST, HOT)}
    fig, grid = plots.grid(1, 2, 12.0, 0.2 * max(map(len, pairs.values())) + 1.5)
    for axes, (when, questions) in zip(grid.flat, pairs.items()):
        for place, name in enumerate(name for name in result["stores"] if name != REFERENCE):
            for row, states in enumerate(questions.values()):
                ratio = (states.get(STATES[1], {}).get(name) or {}).get("to_plain")
                if ratio:
                    axes.plot(
                        [ratio["median"]],
                        [row],
                        "osD^v"[place % 5],
                        color=plots.colour(name),
                        markersize=4,
                        label=STORES[name].label if row == 0 else None,
                    )
        axes.axvline(1, color="#333333", linewidth=0.8)
        plots.logarithmic_x(axes)
        axes.set_yticks(range(len(questions)))
        axes.set_yticklabels(list(questions), fontsize=6)
        axes.invert_yaxis()
        axes.set_title(when, fontsize=10)
        axes.set_xlabel("CPU, a plain table's = 1")
        axes.legend(loc="lower right", fontsize=7)
    plots.save(fig, stem)


def run(arguments):
    """Runs the experiment, in a cluster with its own settings and clock."""
    fill_defaults(arguments)
    data = Data(arguments)
    with SimulatedClock(arguments.data_directory) as clock:
        clock.set(data.start)
        with bench(arguments, arguments.stores, clock=clock, **SETTINGS) as own:
            progress = Progress(len(own.stores), "fill")
            for store in own.stores:
                progress.show(store.label)
                fill(store, data, clock)
                progress.step()
            progress.finish()
            problems = []
            runs = measure(own.stores, data, clock, arguments.rounds, problems)
            names = [store.name for store in own.stores]
            summary = summarize(runs, names)
            return own.conclude(
                arguments.questions,
                {
                    "stores": names,
                    "questions": arguments.questions,
                    "items": arguments.items,
                    "seconds_between_values": data.interval,
                    "days": data.days,
                    "rounds": arguments.rounds,
                    "summary": summary,
                },
                problems,
                show,
                draw,
            )
