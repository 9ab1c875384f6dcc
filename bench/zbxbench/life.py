"""The life experiment: replays what a real Zabbix has sent.

A recording (scripts/record, test/zabbix/life) is replayed with its sessions, transactions and
times, for n times the items, at a given speed or as fast as possible.  The server's clock shows
the time of the recording.  Checkpoints, autovacuum and maintenance run, and there are days of
earlier history.  Latency and backend CPU are measured for each shape of statement.
"""

import concurrent.futures
import random
import time

from . import counters, drivers, environment, libmariadb, libpq, life_mariadb
from . import periods, plots, results, spread
from .day import settings_of as day_settings
from .day_costs import costs_of
from .experiment import bench, names_of
from .life_days import Lines, earlier
from .life_stream import TABLES, Stream, multiplied, shapes
from .progress import Progress
from .simclock import SimulatedClock
from .stores import STORES

NAME = "life"
HELP = "replay of what a real Zabbix has sent: CPU, WAL and latency of each kind of statement"

DEFAULT_STORES = [
    "plain",
    "native",
    "partman",
    "timescaledb",
    "mariadb",
    "zbxhist-setup",
]
REFERENCE = "plain"
WINDOW = 1.0  # seconds of the recording whose statements go side by side
MAINTENANCE, CHECKPOINT = 900, 900  # seconds of the recording
RED = 1.2  # what is above it has a star
STARTING = 60  # seconds of the recording that a start of Zabbix lasts
# a value in Zabbix's history cache: zbx_hc_data_t and the allocator's overhead, without
# texts
CACHE_VALUES = 16 * 2**20 // 56  # of HistoryCacheSize as it is by default
FEW = 20  # statements of a shape below which its ratio is chance
SHAPE = 110  # characters of it that are shown


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument(
        "--recording", metavar="DIRECTORY", help="the recording (default: bench/data/life)"
    )
    parser.add_argument("--stores", help="comma-separated (default: %s)" % ",".join(DEFAULT_STORES))
    parser.add_argument(
        "--copies", type=int, default=1, help="copies of each item (default: %(default)s)"
    )
    parser.add_argument(
        "--speed",
        type=float,
        default=0,
        metavar="N",
        help="speed, relative to the recording (default: as fast as possible)",
    )
    parser.add_argument(
        "--minutes", type=float, help="minutes of the recording (default: all; --quick: 3)"
    )
    parser.add_argument(
        "--from-minute",
        type=float,
        default=0,
        metavar="N",
        help="begin at this minute (default: 0)",
    )
    parser.add_argument("--days", type=int, help="days of earlier history (default: 3; --quick: 1)")
    parser.add_argument(
        "--interval",
        type=int,
        help="seconds between values of the earlier history (default: 300; --quick: 3600)",
    )
    parser.add_argument("--rounds", type=int, help="(default: 3; --quick: 1)")
    parser.add_argument("--autovacuum", default="on", choices=("on", "off"))


def fill_defaults(arguments):
    """Fills in the options that were not given."""
    quick = arguments.quick
    arguments.recording = arguments.recording or str(environment.BENCH / "data" / "life")
    arguments.days = arguments.days or (1 if quick else 3)
    arguments.interval = arguments.interval or (3600 if quick else 300)
    arguments.rounds = arguments.rounds or (1 if quick else 3)
    if quick and not arguments.minutes:
        arguments.minutes = 3
    arguments.stores = names_of(arguments, DEFAULT_STORES)


def settings_of(arguments):
    """As the day's settings, but those that planning depends on are a fresh server's."""
    arguments.items, arguments.wal_compression = 1000, "off"
    settings = day_settings(arguments)
    settings.update(wal_keep_size="8GB", jit="on", work_mem="4MB")
    return settings


class Session:
    """A connection of the recording, opened at its first use."""

    def __init__(self, store):
        self.connection = store.open_connection()
        self.pid = self.connection.pid
        self.is_postgres = store.is_postgres
        if not self.is_postgres:
            self.connection.execute(life_mariadb.SESSION)

    def texts(self, text):
        """The text that is sent instead; None for nothing."""
        return [text] if self.is_postgres else life_mariadb.translated(text)

    def execute(self, texts):
        """Returns milliseconds, milliseconds of the backend's CPU, and the error, if any."""
        error, cpu, began = None, counters.process_cpu(self.pid), time.perf_counter()
        try:
            for text in texts:
                self.connection.execute(text)
        except (libpq.Error, libmariadb.Error) as failure:
            error = str(failure).split("\n", 1)[0]
        took = time.perf_counter() - began
        return took * 1e3, (counters.process_cpu(self.pid) - cpu) * 1e3, error


class Replay:
    """One store's turn."""

    def __init__(self, store, stream, clock, arguments):
        self.store, self.stream, self.clock, self.arguments = store, stream, clock, arguments
        self.began = stream.began
        self.sessions, self.last = {}, {}
        self.taken, self.errors, self.left_out = {}, {}, {}
        self.behind = 0.0
        self.starting = []  # milliseconds of SELECTs
        self.cache_most, self.cache_full = 0.0, 0.0  # share, seconds
        self.executor = concurrent.futures.ThreadPoolExecutor(32)
        self.upkeep = concurrent.futures.ThreadPoolExecutor(1)
        self.pending = None
        for statement in stream.statements:
            self.last[statement.session] = statement.time

    def run(self, costs, progress):
        """Replays all windows of the recording; returns the figures."""
        before, started = costs.reading(), time.time()
        due_maintenance, due_checkpoint = 0, CHECKPOINT
        for moment, sessions in self.stream.windows(WINDOW):
            self.clock.set(self.began + moment)
            self._wait_for(moment, started)
            if moment >= due_maintenance:
                self.maintain()
                due_maintenance = moment + MAINTENANCE
            if moment >= due_checkpoint:
                costs.checkpoint()
                due_checkpoint = moment + CHECKPOINT
            jobs = [self.executor.submit(self._session, *pair) for pair in sessions.items()]
            began = time.time()
            for job in jobs:
                job.result()
            self._fill_cache(moment + WINDOW, began, started)
            self._end_sessions(moment)
        if self.pending is not None:
            self.pending.result()
        seconds = time.time() - started
        costs.checkpoint()
        found = costs.between(before, costs.reading())
        self.executor.shutdown()
        self.upkeep.shutdown()
        progress.step()
        return dict(
            found,
            seconds=seconds,
            behind_seconds=self.behind,
            start_ms=sum(self.starting),
            cache_most=self.cache_most,
            cache_full_seconds=self.cache_full,
            server_cpu=found["backend_cpu"] + found["background_cpu"],
            errors=self.errors,
            left_out=self.left_out,
        )

    def _wait_for(self, moment, started):
        """Keeps the speed, or notes the lag."""
        if not self.arguments.speed:
            return
        recorded = moment - self.stream.idle(moment)
        early = started + recorded / self.arguments.speed - time.time()
        if early > 0:
            time.sleep(early)
        self.behind = max(self.behind, -early)

    def _fill_cache(self, stored, began, started):
        """How much the values that came while a window was stored filled Zabbix's history
        cache."""
        if not self.arguments.speed:
            return
        now = time.time()
        idle = self.stream.idle(stored)
        waiting = self.stream.values_until((now - started) * self.arguments.speed + idle)
        waiting -= self.stream.values_until(stored)
        share = max(waiting, 0) * self.arguments.copies / CACHE_VALUES
        self.cache_most = max(self.cache_most, share)
        if share > 1:
            self.cache_full += now - began

    def maintain(self):
        """Runs maintenance beside the stream, after the previous run has ended."""
        if self.pending is not None:
            self.pending.result()
        self.pending = self.upkeep.submit(self.store.maintain)

    def _session(self, number, statements):
        """Sends the statements of one session in a window."""
        session = self.sessions.get(number)
        if session is None:
            session = self.sessions[number] = Session(self.store)
        for recorded in statements:
            starting = self.stream.is_start(recorded.time, STARTING)
            for statement in multiplied(recorded, self.arguments.copies):
                texts = session.texts(statement.text)
                if texts is None:
                    self.left_out[statement.shape] = self.left_out.get(statement.shape, 0) + 1
                    continue
                took, cpu, error = session.execute(texts)
                self.taken.setdefault(statement.shape, []).append((took, cpu))
                if starting and shapes.kind_of(statement.shape) == "select":
                    self.starting.append(took)
                if error:
                    self.errors[error[:60]] = self.errors.get(error[:60], 0) + 1

    def _end_sessions(self, moment):
        """Closes connections that have no statements left."""
        for number in [n for n in self.sessions if self.last[n] < moment + WINDOW]:
            self.sessions.pop(number).connection.close()


def prepare(store, stream, clock, arguments):
    """Makes a store with its tables and the earlier days."""
    clock.set(stream.began)
    store.cluster.restart()
    days = int(stream.seconds // periods.DAY) + 1
    store.create(TABLES, periods.days(-arguments.days - 1, days))
    for table in TABLES:
        store.fill(table, Lines(earlier(stream, arguments, table)))
    store.maintain()
    store.settle()


def compare(store, expected):
    """Do the stored rows differ from another store's?  The first store fills expected.

    Each database system has a checksum of its own.  A common one, of the program that reads history
    back, is computed for one store of each system.
    """
    problems = store.check()
    for table in TABLES:
        found = {"rows": store.rows(table)}
        if store.is_postgres:
            found["checksum"] = store.checksum(table)
        if table in drivers.MIX_OF_TABLE and (store.is_postgres, table) not in expected:
            expected[store.is_postgres, table] = True
            found["digest"] = drivers.read_back(store, table)["checksum"]
        for what, value in found.items():
            first = expected.setdefault((table, what), value)
            if first != value:
                problems.append(
                    "%s: %s: %s %s instead of %s" % (store.name, table, what, value, first)
                )
    return problems


def run_store(store, stream, clock, arguments, progress, expected):
    """One turn of a store: figures, times by shape, problems."""
    prepare(store, stream, clock, arguments)
    costs = costs_of(store)
    try:
        costs.checkpoint()
        replay = Replay(store, stream, clock, arguments)
        figures = replay.run(costs, progress)
        figures["disk_bytes"] = store.disk_bytes()
        return figures, replay.taken, compare(store, expected)
    finally:
        costs.close()
        store.drop()


def _figures_of(taken):
    walls, cpus = [wall for wall, _ in taken], [cpu for _, cpu in taken]
    return {
        "statements": len(taken),
        "p50_ms": spread.percentile(walls, 0.5),
        "p99_ms": spread.percentile(walls, 0.99),
        "most_ms": max(walls),
        "cpu_ms": sum(cpus) / len(cpus),
    }


def by_shape(rounds):
    """Shapes with their figures by store, those with the most CPU in the reference first.

    rounds: {store: [times by shape, one per round]}
    """
    found = {}
    for store, turns in rounds.items():
        for turn in turns:
            for shape, taken in turn.items():
                found.setdefault(shape, {}).setdefault(store, []).extend(taken)
    entries = []
    for shape, stores in found.items():
        entry = {"shape": shape, "stores": {name: _figures_of(t) for name, t in stores.items()}}
        base = entry["stores"].get(REFERENCE)
        for name, own in entry["stores"].items():
            if base and name != REFERENCE:
                own["cpu_ratio"] = own["cpu_ms"] / base["cpu_ms"] if base["cpu_ms"] else None
                own["p50_ratio"] = own["p50_ms"] / base["p50_ms"]
        entries.append(entry)
    return sorted(entries, key=lambda entry: -_weight(entry))


def _weight(entry):
    own = entry["stores"].get(REFERENCE) or next(iter(entry["stores"].values()))
    return own["cpu_ms"] * own["statements"]


def values_of(stream, copies):
    """The number of values in the recording."""
    return copies * sum(sum(stream.items[table].values()) for table in TABLES)


def shapes_table(result):
    """All shapes: CPU and median of each store as ratios to the reference, with a star above
    RED."""
    others = [name for name in result["summary"] if name != REFERENCE]
    rows = []
    for entry in result["shapes"]:
        base = entry["stores"].get(REFERENCE)
        if base is None:
            continue
        cells = [entry["shape"][:SHAPE], base["statements"]]
        cells += ["%.3f" % base[key] for key in ("cpu_ms", "p50_ms", "p99_ms", "most_ms")]
        for name in others:
            own = entry["stores"].get(name)
            if own is None:
                cells.append("-")
                continue
            star = "*" if base["statements"] >= FEW and (own["cpu_ratio"] or 0) > RED else ""
            cells.append(
                "%.2f%s, %.2f, %.1f"
                % (own["cpu_ratio"] or 0, star, own["p50_ratio"], own["most_ms"])
            )
        rows.append(cells)
    header = ["shape", "statements", "plain: CPU ms", "p50", "p99", "most"]
    return results.table(header + ["%s: CPU, p50, most ms" % name for name in others], rows)


def show(result):
    """Prints the tables."""
    rows = []
    for name, figures in result["summary"].items():
        rows.append(
            [results.judged("%s: %s" % (name, STORES[name].label), name, result["problems"])]
            + [results.spread_text(figures[key], digits) for key, _, digits in TOTALS]
        )
    print(results.table(["store"] + [label for _, label, _ in TOTALS], rows))
    print("\n" + shapes_table(result))
    for run in result["runs"]:
        for shape, count in run.get("left_out", {}).items():
            print("left out: %s, %d: %s" % (run["store"], count, shape[:120]))


TOTALS = (
    ("cpu_us", "server CPU us/value", 1),
    ("wal_bytes", "WAL B/value", 0),
    ("page_bytes", "pages B/value", 0),
    ("disk_bytes", "disk MB", 0),
    ("seconds", "seconds", 0),
    ("behind_seconds", "behind, s", 1),
    ("start_ms", "start, ms", 0),
    ("cache_percent", "cache, %", 1),
    ("cache_full_seconds", "cache full, s", 1),
)


def summarize(turns, values):
    """Plots the totals by store with their spreads."""
    found = {}
    for name, rounds in turns.items():
        found[name] = {
            "cpu_us": spread.spread([turn["server_cpu"] / values * 1e6 for turn in rounds]),
            "wal_bytes": spread.spread([turn["wal_bytes"] / values for turn in rounds]),
            "page_bytes": spread.spread([turn["page_bytes"] / values for turn in rounds]),
            "disk_bytes": spread.spread([turn["disk_bytes"] / 1e6 for turn in rounds]),
            "seconds": spread.spread([turn["seconds"] for turn in rounds]),
            "behind_seconds": spread.spread([turn["behind_seconds"] for turn in rounds]),
            "start_ms": spread.spread([turn["start_ms"] for turn in rounds]),
            "cache_percent": spread.spread([turn["cache_most"] * 100 for turn in rounds]),
            "cache_full_seconds": spread.spread([turn["cache_full_seconds"] for turn in rounds]),
        }
    return found


def draw(result, stem):
    """Plots the CPU of the most expensive shapes, as ratios to the reference."""
    entries = [e for e in result["shapes"] if REFERENCE in e["stores"]][:15]
    names = [name for name in result["summary"] if name != REFERENCE]
    if not entries or not names:
        return
    fig, axes = plots.figure(10, 0.45 * len(entries) + 1.5)
    height = 0.8 / len(names)
    for place, name in enumerate(names):
        axes.barh(
            [row + place * height for row in range(len(entries))],
            [(e["stores"].get(name) or {}).get("cpu_ratio") or 0 for e in entries],
            height,
            color=plots.colour(name),
            label=STORES[name].label,
        )
    axes.axvline(1, color="#333333", linewidth=0.8)
    axes.set_yticks([row + 0.4 for row in range(len(entries))])
    axes.set_yticklabels([e["shape"][:70] for e in entries], fontsize=6)
    axes.invert_yaxis()
    axes.set_xlabel("CPU of a statement's backend, a plain table's = 1")
    axes.legend(loc="lower right")
    plots.save(fig, stem)


def run(arguments):
    """Runs the experiment."""
    fill_defaults(arguments)
    stream = Stream(arguments.recording, arguments.minutes, arguments.from_minute)
    periods.pretend(stream.began)
    with SimulatedClock(arguments.data_directory) as clock:
        clock.set(stream.began)
        with bench(arguments, arguments.stores, clock=clock, **settings_of(arguments)) as own:
            progress = Progress(len(own.stores) * arguments.rounds, NAME)
            turns = {store.name: [] for store in own.stores}
            taken = {store.name: [] for store in own.stores}
            problems, expected, order = [], {}, random.Random(1)
            for number in range(arguments.rounds):
                for store in order.sample(own.stores, len(own.stores)):
                    progress.show("%s, round %d" % (store.name, number + 1))
                    figures, times, wrong = run_store(
                        store, stream, clock, arguments, progress, expected
                    )
                    turns[store.name].append(figures)
                    taken[store.name].append(times)
                    problems += wrong
            progress.finish()
            entries = by_shape(taken)
            values = values_of(stream, arguments.copies)
            return own.conclude(
                NAME,
                {
                    "recording_seconds": stream.seconds,
                    "from_minute": arguments.from_minute,
                    "values": values,
                    "copies": arguments.copies,
                    "speed": arguments.speed,
                    "days": arguments.days,
                    "summary": summarize(turns, values),
                    "shapes": entries,
                    "runs": [
                        dict(turn, store=name) for name, some in turns.items() for turn in some
                    ],
                },
                problems,
                show,
                draw,
            )
