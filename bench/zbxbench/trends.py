"""The trends experiment: Zabbix's burst after the full hour, on a year of months.

Zabbix (6.0, dc_trends_fetch_and_update) writes an hour's trends in groups of
up to 1000 items, a transaction each.  A burst here is what one hour of one
value type can bring at most: all items are flushed for the first time since
the server's start (select, look up, insert), then once more after a restart
within the hour (select, look up, update).
"""

import random
import time

from . import counters, periods, plots, results, spread
from .experiment import bench
from .progress import Progress
from .stores import STORES

NAME = "trends"
HELP = "Zabbix's burst of trends after the hour, with a year of monthly partitions"

DEFAULT_STORES = ["plain", "native", "zbxhist"]
REFERENCE = "plain"
TARGET = 1.5

GROUP = 1000  # trends a transaction
MAX_TEXT = 262144  # bytes of a query text
FIRST_ITEMID = 100000
HOUR = 3600
MONTHS_BACK, MONTHS_AHEAD = -12, 1

PARTS = ("select", "look up", "insert", "update", "commit")
MEASURED = PARTS + ("total", "cpu_seconds", "server_seconds", "wal_bytes")
PART_COLOURS = ("#56B4E9", "#0072B2", "#009E73", "#D55E00", "#999999")


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument(
        "--stores", default=",".join(DEFAULT_STORES), help="comma-separated (default: %(default)s)"
    )
    parser.add_argument("--items", type=int, help="(default: 30000; --quick: 3000)")
    parser.add_argument(
        "--hours",
        type=int,
        metavar="N",
        help="hours of each month filled beforehand (default: 24; --quick: 12)",
    )
    parser.add_argument("--rounds", type=int, help="(default: 7; --quick: 3)")
    parser.add_argument("--seed", type=int, default=1, help="of the order of runs")


def fill_defaults(arguments):
    """What was not given, by form."""
    arguments.items = arguments.items or (3000 if arguments.quick else 30000)
    arguments.hours = arguments.hours or (12 if arguments.quick else 24)
    arguments.rounds = arguments.rounds or (3 if arguments.quick else 7)
    arguments.stores = arguments.stores.split(",")


def fill(store, months, arguments):
    """A year of trends: the first hours of every month, for all items."""
    for month in months:
        store.execute(
            "INSERT INTO {table} SELECT i, {start} + h * {hour}, 60, i % 97, i % 97 + 0.25, "
            "i % 97 + 1 FROM generate_series({first}, {last}) i, "
            "generate_series(0, {hours} - 1) h".format(
                table=store.filled("trends", month),
                start=month.start,
                hour=HOUR,
                first=FIRST_ITEMID,
                last=FIRST_ITEMID + arguments.items - 1,
                hours=arguments.hours,
            )
        )
    store.catch_up()
    store.settle()


def groups(arguments):
    """The items in groups, as Zabbix flushes them."""
    items = range(FIRST_ITEMID, FIRST_ITEMID + arguments.items)
    return [items[start : start + GROUP] for start in range(0, len(items), GROUP)]


def item_condition(items):
    """Zabbix's list of items: parts of at most 950 (zbx_db_add_condition_alloc)."""
    parts = [
        "itemid in (%s)" % ",".join(map(str, items[start : start + 950]))
        for start in range(0, len(items), 950)
    ]
    return parts[0] if len(parts) == 1 else "(%s)" % " or ".join(parts)


def select_text(items, clock):
    """Is there any trend of these items at or after the hour?"""
    return "select distinct itemid from trends where clock>=%d and %s" % (
        clock,
        item_condition(items),
    )


def look_up_text(items, clock):
    """The rows of the hour."""
    return (
        "select itemid,num,value_min,value_avg,value_max from trends where clock=%d and %s "
        "order by itemid,clock" % (clock, item_condition(items))
    )


def split_text(statements):
    """Statements joined into texts which are cut above 256 kB."""
    text = []
    length = 0
    for statement in statements:
        text.append(statement)
        length += len(statement)
        if length > MAX_TEXT:
            yield "".join(text)
            text, length = [], 0
    if text:
        yield "".join(text)


def values(item, clock, num):
    """How many values, and the least, mean and greatest, which have as many digits as Zabbix's."""
    seed = (item * 7919 + clock // HOUR * 104729 + num) % 99991
    least = seed % 9973 / 100
    return num, least, least + seed / 7e4, least + seed % 499 / 100 + 1.5


def update_texts(items, clock):
    """An UPDATE by key for each item, many a text."""
    return list(
        split_text(
            "update trends set num=%d,value_min=%.17G,value_avg=%.17G,value_max=%.17G "
            "where itemid=%d and clock=%d;\n" % (*values(item, clock, 60), item, clock)
            for item in items
        )
    )


def insert_text(items, clock):
    """One multi-row INSERT."""
    rows = ",".join(
        "(%d,%d,%d,%.17G,%.17G,%.17G)" % (item, clock, *values(item, clock, 30)) for item in items
    )
    return "insert into trends (itemid,clock,num,value_min,value_avg,value_max) values %s;\n" % rows


class Session:
    """A history syncer's connection; times its statements by part."""

    def __init__(self, store):
        self.connection = store.connect()
        self.cursor = self.connection.cursor()
        self.pid = self.connection.info.backend_pid
        self.times = {}
        self.reset()
        for setting in (
            "set escape_string_warning to off",
            "set extra_float_digits to 3",
            "set bytea_output=escape",
        ):
            self.cursor.execute(setting)

    def reset(self):
        """Forgets the times."""
        self.times = dict.fromkeys(PARTS, 0.0)

    def timed(self, part, text):
        """Runs one text."""
        started = time.perf_counter()
        self.cursor.execute(text)
        self.times[part] += time.perf_counter() - started

    def rows(self, part, text):
        """Runs one query; returns its rows."""
        started = time.perf_counter()
        self.cursor.execute(text)
        rows = self.cursor.fetchall()
        self.times[part] += time.perf_counter() - started
        return rows

    def flush(self, items, clock):
        """One group's transaction, as Zabbix decides it."""
        self.cursor.execute("begin;")
        known = sorted(row[0] for row in self.rows("select", select_text(items, clock)))
        found = set()
        if known:
            found = {row[0] for row in self.rows("look up", look_up_text(known, clock))}
        for text in update_texts([item for item in items if item in found], clock):
            self.timed("update", text)
        missing = [item for item in items if item not in found]
        if missing:
            self.timed("insert", insert_text(missing, clock))
        self.timed("commit", "commit;")

    def burst(self, arguments, clock):
        """An hour's first flush of all items, then the one after a restart."""
        self.reset()
        cpu = counters.process_cpu(self.pid)
        for _ in range(2):
            for items in groups(arguments):
                self.flush(items, clock)
        return dict(
            self.times,
            total=sum(self.times.values()),
            cpu_seconds=counters.process_cpu(self.pid) - cpu,
        )

    def close(self):
        """Disconnects."""
        self.connection.close()


def hour_of(months, arguments, round_number):
    """The hour of a round: in the current month, after those filled."""
    current = months[-MONTHS_BACK]
    return current.start + (arguments.hours + round_number) * HOUR


def measure(store, session, wal, arguments, clock):
    """A burst, and what the whole server does for it until it has caught up."""
    store.cluster.checkpoint()
    pid = store.cluster.postmaster_pid
    cpu = counters.server_cpu(pid)
    position = wal.position()
    measurement = session.burst(arguments, clock)
    store.catch_up()
    return dict(
        measurement,
        server_seconds=counters.server_cpu(pid) - cpu,
        wal_bytes=wal.between(position, wal.position())["bytes"],
    )


def run_rounds(stores, wal, months, arguments):
    """All bursts; the first round warms up and is not kept."""
    order = random.Random(arguments.seed)
    sessions = {store.name: Session(store) for store in stores}
    progress = Progress((arguments.rounds + 1) * len(stores), "trends")
    runs = []
    for round_number in range(arguments.rounds + 1):
        clock = hour_of(months, arguments, round_number)
        for store in order.sample(stores, len(stores)):
            progress.show("%s, round %d" % (store.name, round_number))
            measurement = measure(store, sessions[store.name], wal, arguments, clock)
            if round_number:
                runs.append(dict(measurement, store=store.name, round=round_number))
            progress.step()
    progress.finish()
    for session in sessions.values():
        session.close()
    return runs


def verify(stores, months, arguments):
    """The same rows everywhere, as many as were written."""
    expected = arguments.items * (len(months) * arguments.hours + arguments.rounds + 1)
    problems = []
    sums = {}
    for store in stores:
        rows = store.rows("trends")
        if rows != expected:
            problems.append("%s: %d rows instead of %d" % (store.name, rows, expected))
        sums[store.name] = store.checksum("trends")
        problems.extend(store.check())
    if len(set(sums.values())) > 1:
        problems.append("the stores hold different rows: %s" % sums)
    return problems


def of_store(runs, name):
    """A store's runs by round."""
    return sorted((run for run in runs if run["store"] == name), key=lambda run: run["round"])


def summarize(runs, names):
    """Seconds, and bytes of log, and ratios to the plain table, by store and part."""
    summary = {}
    for name in names:
        entry = {}
        for key in MEASURED:
            own = [run[key] for run in of_store(runs, name)]
            reference = [run[key] for run in of_store(runs, REFERENCE)]
            unit = "bytes" if key == "wal_bytes" else "seconds"
            entry[key] = {unit: spread.spread(own), "ratio": spread.ratios(own, reference)}
        summary[name] = entry
    return summary


def show(result):
    """The table of a result: medians, in milliseconds and kB a burst."""

    def cell(entry):
        ratio = entry["ratio"]
        median = entry["seconds"]["median"] * 1e3 if "seconds" in entry else None
        return "%s%s" % (
            results.number(entry["bytes"]["median"] / 1e3 if median is None else median, 1),
            " (%.2f)" % ratio["median"] if ratio else "",
        )

    print(
        "\nTrends of %d items, a year of months: milliseconds a burst (ratio to %s)"
        % (result["items"], STORES[REFERENCE].label)
    )
    print(
        results.table(
            ["store"] + list(PARTS) + ["total", "CPU", "server's CPU", "log, kB"],
            [
                [results.judged(STORES[name].label, name, result["problems"])]
                + [cell(entry[key]) if key in entry else "" for key in MEASURED]
                for name, entry in result["summary"].items()
            ],
        )
    )


def targets(summary):
    """The project's own target."""
    ratio = summary.get("zbxhist", {}).get("total", {}).get("ratio")
    if not ratio:
        return []
    return [
        {
            "target": "time of a burst, zbxhist to the plain table, at most %.1f" % TARGET,
            "value": ratio["median"],
            "met": ratio["median"] <= TARGET,
        }
    ]


def draw(result, stem):
    """Stacked bars of the parts."""
    summary = result["summary"]
    fig, axes = plots.figure()
    names = list(summary)
    bottom = [0.0] * len(names)
    for part, colour in zip(PARTS, PART_COLOURS):
        heights = [summary[store][part]["seconds"]["median"] * 1e3 for store in names]
        axes.bar(range(len(names)), heights, bottom=bottom, color=colour, label=part)
        bottom = [low + height for low, height in zip(bottom, heights)]
    axes.set_xticks(range(len(names)))
    axes.set_xticklabels([plots.wrapped(STORES[store].label) for store in names], fontsize=8)
    axes.set_ylabel("milliseconds a burst")
    axes.set_title("Zabbix's trends after the hour, a year of monthly partitions", fontsize=10)
    plots.legend_beside(axes)
    plots.save(fig, stem)


def run(arguments):
    """The experiment."""
    fill_defaults(arguments)
    months = periods.months(MONTHS_BACK, MONTHS_AHEAD)
    with bench(arguments, arguments.stores) as own:
        progress = Progress(len(own.stores), "fill")
        for store in own.stores:
            progress.show(store.name)
            store.create(("trends",), months, "monthly")
            fill(store, months, arguments)
            progress.step()
        progress.finish()
        wal = counters.Wal(own.cluster)
        runs = run_rounds(own.stores, wal, months, arguments)
        wal.close()
        problems = verify(own.stores, months, arguments)
        summary = summarize(runs, [store.name for store in own.stores])
        return own.conclude(
            NAME,
            {
                "items": arguments.items,
                "hours": arguments.hours,
                "rounds": arguments.rounds,
                "targets": targets(summary),
                "summary": summary,
                "runs": runs,
            },
            problems,
            show,
            draw,
        )
