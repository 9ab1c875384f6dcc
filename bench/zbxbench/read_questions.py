"""The part "questions" of the read experiment: what people and Zabbix ask, as installed.

Settings that planning depends on are those of a fresh PostgreSQL.  Each shape of
statement is asked of past days, which zbxhist has packed, and of the hour that is being
written, before and after ANALYZE.  What counts is the CPU of the backend and its
parallel workers; answers are compared.
"""

import random
import time

from . import counters, libpq, periods, plots, results, spread
from .cluster import SUPERUSER
from .experiment import bench
from .life_days import Lines
from .progress import Progress
from .read_aggregates import Expected
from .read_shapes import HOSTS_ITEMS, MANY, ONLY, Place, shapes
from .simclock import SimulatedClock
from .stores import STORES

PART = "questions"
NAME = "read-questions"
DEFAULT_STORES = ["plain", "native", "timescaledb", "zbxhist-setup", "zbxhist-setup-runs"]
REFERENCE = "plain"
RED = 1.2

PAST, HOT = "past days", "hour being written"
STATES = ("not analysed", "analysed")
# a fresh PostgreSQL's, instead of those of the other experiments
SETTINGS = {
    "work_mem": "4MB",
    "jit": "on",
    "random_page_cost": "4",
    "effective_cache_size": "4GB",
    "effective_io_concurrency": "1",
    "checkpoint_timeout": "1d",
}
FIRST_ITEMID = 100000
FIRST_UNSIGNED = 900000
NOW = 5400  # seconds of today: an hour that is over but not packed, and half of the next
STEP = 60  # of the values of today
ROWS = 1000  # of an INSERT
SPAN = 7  # days that are asked for
PATIENCE = "60s"
SHORT, TIMES = 0.02, 5  # what takes less is asked so often in a round


class Data:
    """The values of all stores, the same for the same size.

    size: items and the seconds between two values; days: those before today
    """

    def __init__(self, size, days):
        self.size, self.days = size, days
        self.start = periods.clock(periods.today())
        self.tables = {
            "history": range(FIRST_ITEMID, FIRST_ITEMID + size.items),
            "history_uint": range(FIRST_UNSIGNED, FIRST_UNSIGNED + max(1, size.items // 10)),
        }

    def _rows(self, table, clocks):
        """Rows of all items for each of the times: (itemid, clock, value, ns)."""
        dice = random.Random("%s %d" % (table, clocks.start))

        def value():
            number = dice.randrange(10**6)
            return number if table == "history_uint" else number / 1e4

        for clock in clocks:
            yield [
                (
                    item,
                    clock + item % min(60, clocks.step),
                    value(),
                    dice.randrange(10**9),
                )
                for item in self.tables[table]
            ]

    def past(self, table):
        """COPY text of the days before."""
        first = self.start - self.days * periods.DAY
        for rows in self._rows(table, range(first, self.start, self.size.step)):
            yield "".join("%d\t%d\t%s\t%d\n" % row for row in rows)

    def today(self, table, first, last):
        """INSERTs of today's values from one second to another."""
        for rows in self._rows(table, range(self.start + first, self.start + last, STEP)):
            for place in range(0, len(rows), ROWS):
                yield "insert into %s (itemid,clock,value,ns) values %s" % (
                    table,
                    ",".join("(%d,%d,%s,%d)" % row for row in rows[place : place + ROWS]),
                )

    def place(self, when, chooser):
        """Items and times of a round's statements."""
        items = chooser.sample(self.tables["history"], min(max(MANY), self.size.items))
        unsigned = self.tables["history_uint"]
        unsigned = chooser.sample(unsigned, min(HOSTS_ITEMS, len(unsigned)))
        if when == PAST:
            span = min(SPAN, self.days)
            times = (self.start - span * periods.DAY, self.start - 1, periods.HOUR)
            since = "date_trunc('day', now()) - interval '%d days'" % span
        else:
            times = (self.start + NOW - periods.HOUR, self.start + NOW, 300)
            since = "date_trunc('hour', now())"
        return Place(tuple(items), tuple(unsigned), *times, since)


def dimensions(data):
    """SQL of the tables that are joined."""
    return (
        "CREATE TABLE hosts (hostid bigint PRIMARY KEY, name text NOT NULL);"
        "CREATE TABLE items (itemid bigint PRIMARY KEY, hostid bigint NOT NULL, name text NOT NULL);"
        "CREATE INDEX ON items (hostid); CREATE INDEX ON items (name);"
        "INSERT INTO items SELECT i, i / {n}, 'item ' || i FROM generate_series({a}, {b}) i;"
        "INSERT INTO hosts SELECT DISTINCT hostid, 'host ' || hostid FROM items"
    ).format(n=HOSTS_ITEMS, a=FIRST_ITEMID, b=FIRST_ITEMID + data.size.items - 1)


def fill(store, data, clock):
    """Past days as the store has them when they are over, and today as it comes."""
    clock.set(data.start)
    days = periods.days(-data.days - 1, 1)
    store.create(tuple(data.tables), days)
    store.execute(dimensions(data))
    for table in data.tables:
        store.fill(table, Lines(data.past(table)))
        for day in days[:-2]:
            store.close_period(table, day)
    store.maintain()
    connection = store.open_connection()
    for first in range(0, NOW, 900):
        clock.set(data.start + first)
        for table in data.tables:
            for text in data.today(table, first, first + 900):
                connection.execute(text)
    connection.close()
    clock.set(data.start + NOW)
    # yesterday has become old enough to be packed
    store.maintain()
    store.catch_up()
    # as autovacuum would, which has not come to ANALYZE
    store.execute("VACUUM (FREEZE)", SUPERUSER)


class Reader:
    """A store's connection."""

    def __init__(self, store):
        self.store = store
        self.key = store.name
        self.connection = libpq.Connection(store.dsn())
        self.connection.execute("SET statement_timeout = '%s'" % PATIENCE)

    def cpu(self):
        """Seconds of the backend, and of parallel workers that have ended."""
        own = counters.process_cpu(self.connection.pid)
        return own + counters.reaped_cpu(self.store.server_pid())

    def ask(self, text):
        """Rows, and milliseconds of CPU and of time."""
        cpu, began, count = self.cpu(), time.perf_counter(), 0
        while True:
            rows = self.connection.execute(text)
            count += 1
            took = time.perf_counter() - began
            if took / count > SHORT or count == TIMES:
                return list(rows), (self.cpu() - cpu) / count * 1e3, took / count * 1e3


def are_asked(readers, when):
    """Past days look the same in all stores of the extension."""
    own = [reader for reader in readers if reader.key.startswith("zbxhist")]
    return [reader for reader in readers if when == HOT or reader not in own[1:]]


def ask_round(readers, data, state, number, problems, progress):
    """All statements of a round, each of all stores; the one before the first warms up."""
    chooser = random.Random(number)
    runs = []
    for when in (PAST, HOT):
        for question, text in shapes(data.place(when, chooser)).items():
            expected = Expected(problems)
            asked = are_asked(readers, when)
            for reader in chooser.sample(asked, len(asked)):
                found = {"store": reader.key, "when": when, "state": state, "question": question}
                try:
                    rows, found["cpu_ms"], found["ms"] = reader.ask(text)
                except libpq.Error as error:
                    problems.append("%s: %s, %s: %s" % (reader.key, question, when, error))
                    continue
                only = ONLY.get(question)
                if only is not None:
                    rows = [row[only : only + 1] for row in rows]
                expected.note(reader, "%s, %s" % (question, when), rows)
                if number >= 0:
                    runs.append(dict(found, rows=len(rows), round=number))
        progress.step()
    return runs


def measure(stores, data, clock, rounds, problems):
    """Both states, all rounds."""
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
        reader.connection.close()
    return runs


# ---- summary ----


def _of(runs, **key):
    """Runs with these properties, by round."""
    chosen = (run for run in runs if all(run[name] == value for name, value in key.items()))
    return sorted(chosen, key=lambda run: run["round"])


def summarize(runs, names):
    """An entry a question, time and state: its stores in that order."""
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
    """CPU to another store's in the same round."""
    known = {run["round"]: run["cpu_ms"] for run in others or ()}
    return spread.ratios([run["cpu_ms"] for run in some], [known.get(run["round"]) for run in some])


def reds(summary):
    """What costs zbxhist more than it should: (store, when, question, state, ratio)."""
    return [
        (name, cell["when"], cell["question"], cell["state"], entry["to_plain"]["median"])
        for cell in summary
        for name, entry in cell["stores"].items()
        if name.startswith("zbxhist") and entry["to_plain"] and entry["to_plain"]["median"] > RED
    ]


# ---- tables and plots ----


def _pairs(summary, when):
    """Each question's cells by state."""
    found = {}
    for cell in summary:
        if cell["when"] == when:
            found.setdefault(cell["question"], {})[cell["state"]] = cell["stores"]
    return found


def _cell_text(states, name):
    """Ratios to the plain table, not analysed and analysed."""
    texts = []
    for state in STATES:
        ratio = (states.get(state, {}).get(name) or {}).get("to_plain")
        star = "*" if ratio and name.startswith("zbxhist") and ratio["median"] > RED else ""
        texts.append("%.2f%s" % (ratio["median"], star) if ratio else "-")
    return ", ".join(texts)


def show(result):
    """A table of the past, one of the hour."""
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
    for name, when, question, state, ratio in result["red"]:
        print("above %g: %s, %s, %s, %s: %.2f" % (RED, name, when, question, state, ratio))


def draw(result, stem):
    """CPU to a plain table's, a panel a time."""
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
    """The part, in a cluster with settings and a clock of its own."""
    today = periods.clock(periods.today())
    data = Data(arguments.packed_size, arguments.days)
    with SimulatedClock(arguments.data_directory) as clock:
        clock.set(today)
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
                "read",
                {
                    "name": NAME,
                    "part": PART,
                    "stores": names,
                    "items": data.size.items,
                    "seconds_between_values": data.size.step,
                    "days": data.days,
                    "rounds": arguments.rounds,
                    "summary": summary,
                    "red": reds(summary),
                },
                problems,
                show,
                draw,
            )
