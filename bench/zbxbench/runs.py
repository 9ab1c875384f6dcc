"""The runs experiment: what readers and history syncers feel while runs are merged.

Each store is sent a stream at a fixed rate.  In the part "reading" one client
asks meanwhile for what Zabbix asks of the hour that is being written; in the
part "stall" the rate is higher, and what counts is the slowest INSERT.  All
stores have their turns in each round, one after another.
"""

import dataclasses
import random
import time

from . import drivers, periods, plots, results, spread
from .experiment import bench, names_of
from .progress import Progress
from .runs_watch import Watch
from .stores import STORES
from .stream import Stream, latencies

NAME = "runs"
HELP = "reading the hour that is being written, and the slowest INSERT while runs are merged"

DEFAULT_STORES = ["native", "zbxhist", "zbxhist-runs", "zbxhist-runs-preloaded"]
REFERENCE, HEAP, OWN = "native", "zbxhist", "zbxhist-runs"
PARTS = ("reading", "stall")
TABLE = "history"
BATCH = 1000
STEP = 60  # simulated seconds a pass: a value a minute
HOUR = 3600
FIRST_ITEMID = 100000  # the loader's
SETTLE = 2.0  # seconds of the stream before somebody reads

# what the client asks for, by name; the frontend's statement and the value cache's
QUESTIONS = {
    "hour": "select clock,ns,value from history where itemid=%(item)d and clock>%(past)d "
    "and clock<=%(now)d",
    "newest 2": "SELECT * FROM history h WHERE h.itemid='%(item)d' AND h.clock>%(yesterday)d "
    "ORDER BY h.clock DESC,h.ns DESC LIMIT 2",
    # of many items, and of all
    "DISTINCT ON": "SELECT DISTINCT ON (itemid) * FROM history WHERE itemid IN (%(items)s) AND "
    "clock>%(past)d ORDER BY itemid,clock DESC,ns DESC",
    "max(clock)": "SELECT itemid,max(clock) FROM history WHERE clock>%(past)d GROUP BY itemid",
    "sum": "SELECT itemid,sum(value),count(*) FROM history WHERE clock>%(past)d GROUP BY itemid",
}
MANY = 1000  # items of a list
START = "start"  # the hour of so many items, one after another

READ_TARGET, P99_TARGET, STALL_TARGET, SOURCES_TARGET = 1.5, 1.5, 100, 100


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument("--stores", help="comma-separated (default: %s)" % ",".join(DEFAULT_STORES))
    parser.add_argument(
        "--parts", default=",".join(PARTS), help="comma-separated (default: %(default)s)"
    )
    parser.add_argument(
        "--items", type=int, help="with a value a minute each (default: 60000; --quick: 5000)"
    )
    parser.add_argument(
        "--fill-minutes", type=int, help="of history at the start (default: 90; --quick: 70)"
    )
    parser.add_argument(
        "--rate",
        type=float,
        default=20000,
        metavar="N",
        help="values a second written while others read (default: %(default)g)",
    )
    parser.add_argument(
        "--stall-rate",
        type=float,
        default=100000,
        metavar="N",
        help='values a second of the part "stall" (default: %(default)g)',
    )
    parser.add_argument(
        "--seconds", type=float, help="of a store's turn in a round (default: 30; --quick: 5)"
    )
    parser.add_argument(
        "--start-items", type=int, help="of Zabbix' start (default: 10000; --quick: 500)"
    )
    parser.add_argument("--connections", type=int, default=4, help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, help="(default: 3; --quick: 1)")


def fill_defaults(arguments):
    """What was not given, by form."""
    quick = arguments.quick
    arguments.items = arguments.items or (5000 if quick else 60000)
    arguments.fill_minutes = arguments.fill_minutes or (70 if quick else 90)
    arguments.seconds = arguments.seconds or (5 if quick else 30)
    arguments.start_items = arguments.start_items or (500 if quick else 10000)
    arguments.rounds = arguments.rounds or (1 if quick else 3)
    arguments.stores = names_of(arguments, DEFAULT_STORES)
    arguments.parts = arguments.parts.split(",")


def passes_of(arguments, rate):
    """Passes over the items in a turn, whole ones."""
    return max(1, round(rate * arguments.seconds / arguments.items))


class Places:
    """Where in the stream each turn begins: all stores are sent the same values."""

    def __init__(self, arguments):
        self.items = arguments.items
        self.next_pass = 0
        self.connections = arguments.connections

    def take(self, passes):
        """The next passes of the stream."""
        load = drivers.Load(
            "loader",
            BATCH,
            self.connections,
            passes * self.items,
            0,
            periods.clock(periods.today()),
            items=self.items,
            step=STEP,
            first_pass=self.next_pass,
        )
        self.next_pass += passes
        return load


class Client:
    """Asks what Zabbix asks; knows what time it is in the stream."""

    def __init__(self, store, load, rate):
        self.reader = store.open_reader("sql")
        # the CPU is that of this one backend
        self.reader.execute("SET max_parallel_workers_per_gather = 0")
        self.load = load
        self.rate = rate
        self.began = time.time()
        self.random = random.Random(load.first_pass)

    def now(self):
        """The stream's clock."""
        passes = (time.time() - self.began) * self.rate / self.load.items
        return self.load.clock + int((self.load.first_pass + passes) * STEP)

    def ask(self, name, item):
        """Seconds that an answer takes, and its rows."""
        now = self.now()
        first = FIRST_ITEMID + (item - FIRST_ITEMID) % max(1, self.load.items - MANY)
        text = QUESTIONS[name] % {
            "item": item,
            "items": ",".join(map(str, range(first, first + MANY))),
            "now": now,
            "past": now - HOUR,
            "yesterday": now - periods.DAY,
        }
        started = time.perf_counter()
        rows = self.reader.execute(text)
        return time.perf_counter() - started, len(rows)

    def some(self, name, seconds):
        """Asks of random items for a time."""
        taken, rows = [], 0
        cpu, end = self.reader.server_cpu(), time.time() + seconds
        while time.time() < end:
            item = FIRST_ITEMID + self.random.randrange(self.load.items)
            one, count = self.ask(name, item)
            taken.append(one)
            rows += count
        return self._figures(taken, rows, self.reader.server_cpu() - cpu)

    def start(self, count):
        """The hour of so many items, as the value cache is filled."""
        items = self.random.sample(range(self.load.items), min(count, self.load.items))
        cpu, began = self.reader.server_cpu(), time.time()
        answers = [self.ask("hour", FIRST_ITEMID + item) for item in sorted(items)]
        found = self._figures(
            [one for one, _ in answers],
            sum(rows for _, rows in answers),
            self.reader.server_cpu() - cpu,
        )
        return dict(found, seconds=time.time() - began)

    @staticmethod
    def _figures(taken, rows, cpu):
        return {
            "queries": len(taken),
            "rows": rows / len(taken),
            "p50_ms": spread.percentile(taken, 0.5) * 1e3,
            "p99_ms": spread.percentile(taken, 0.99) * 1e3,
            "cpu_ms": cpu / len(taken) * 1e3,
        }

    def close(self):
        """Disconnects."""
        self.reader.close()


def read_meanwhile(store, load, arguments):
    """The questions, while the stream goes on; by name."""
    client = Client(store, load, arguments.rate)
    try:
        time.sleep(min(SETTLE, arguments.seconds / 5))
        share = arguments.seconds / (len(QUESTIONS) + 3)
        found = {name: client.some(name, share) for name in QUESTIONS}
        found[START] = client.start(arguments.start_items)
        return found
    finally:
        client.close()


def take_turn(store, load, rate, ask=None):
    """One store's turn: the stream at a rate, and what is asked meanwhile."""
    cpu = store.server_cpu()
    stream = Stream(store, rate, load.connections, load, seconds=None)
    watch = None
    try:
        watch = Watch(store, stream.pids)
        answers = ask() if ask else {}
        result, statements = stream.wait()
    finally:
        if watch is not None:
            watched = watch.stop()
        stream.close()
    store.catch_up()
    found = {
        key: result[key] for key in ("values", "failed", "lost", "duplicates", "values_per_second")
    }
    everything = {"from": 0, "to": time.time()}
    return dict(
        found,
        questions=answers,
        insert=latencies(statements, everything),
        server_cpu_us_per_value=(store.server_cpu() - cpu) / result["values"] * 1e6,
        **watched,
    )


def fill(stores, places, arguments):
    """History as it comes, at full speed: the same INSERTs, and merges where there are some."""
    load = places.take(arguments.fill_minutes)
    progress = Progress(len(stores), "fill")
    for store in stores:
        progress.show(store.name)
        store.create((TABLE,), periods.days(-1, 1))
        stream = Stream(store, 0, load.connections, load, seconds=None)
        try:
            stream.wait()
        finally:
            stream.close()
        store.catch_up()
        store.settle()
        progress.step()
    progress.finish()


def measure(stores, places, arguments):
    """All turns, by round and part, the stores in another order in each."""
    order, turns = random.Random(1), []
    progress = Progress(arguments.rounds * len(arguments.parts) * len(stores), NAME)
    for part in arguments.parts:
        rate = arguments.rate if part == "reading" else arguments.stall_rate
        for number in range(arguments.rounds):
            load = places.take(passes_of(arguments, rate))
            for store in order.sample(stores, len(stores)):
                progress.show("%s, %s, round %d" % (part, store.name, number + 1))

                def ask(store=store, load=load):
                    return read_meanwhile(store, load, arguments)

                turn = take_turn(store, load, rate, ask if part == "reading" else None)
                turns.append(dict(turn, part=part, store=store.name, round=number, rate=rate))
                progress.step()
    progress.finish()
    return turns


def verify(stores, places, turns):
    """Every store must hold what it was sent, and have refused nothing."""
    load = dataclasses.replace(places.take(0), first_pass=0)
    expected = drivers.stream_digest(load, load.items * places.next_pass)
    problems = []
    for store in stores:
        for turn in turns:
            if turn["store"] == store.name and (
                turn["failed"] or turn["lost"] or turn["duplicates"]
            ):
                problems.append(
                    "%s: %s, failed statements %s, values lost %d, duplicates %d"
                    % (store.name, turn["part"], turn["failed"], turn["lost"], turn["duplicates"])
                )
        found = drivers.read_back(store, "float")
        if found != expected:
            problems.append(
                "%s: %d rows, checksum %s instead of %d, %s"
                % (
                    store.name,
                    found["rows"],
                    found["checksum"],
                    expected["rows"],
                    expected["checksum"],
                )
            )
        problems += store.check()
    return problems


# ---- summary ----


def _turns(turns, part, store):
    return sorted(
        (turn for turn in turns if turn["part"] == part and turn["store"] == store),
        key=lambda turn: turn["round"],
    )


def _questions(own, reference):
    """Spreads of each question's figures, and their ratios to the reference's."""
    found = {}
    for name in own[0]["questions"]:
        entry = found[name] = {}
        for key in own[0]["questions"][name]:
            mine, others = (
                [turn["questions"][name][key] for turn in some] for some in (own, reference)
            )
            entry[key] = dict(spread.spread(mine), ratio=spread.ratios(mine, others))
    return found


def _inserts(own, reference, heap):
    """Spreads of the INSERTs' latencies, and of p99 the ratios to other stores."""

    def of(some, key, what="latency_ms"):
        return [turn["insert"][what][key] for turn in some]

    return dict(
        {key: spread.spread(of(own, key)) for key in ("p50", "p99", "max")},
        delay_p99=spread.spread(of(own, "p99", "delay_ms")),
        to_reference=spread.ratios(of(own, "p99"), of(reference, "p99")),
        to_heap=spread.ratios(of(own, "p99"), of(heap, "p99")),
    )


def _most(turns, key):
    """Median and greatest number of what was counted in all turns."""
    counts = [count for turn in turns for count in turn[key]]
    return {"median": spread.percentile(counts, 0.5), "max": max(counts)} if counts else None


def summarize(turns, names, parts):
    """By part and store."""
    found = {}
    for part in parts:
        reference, heap = (_turns(turns, part, name) for name in (REFERENCE, HEAP))
        for name in names:
            own = _turns(turns, part, name)
            found.setdefault(part, {})[name] = {
                "questions": _questions(own, reference),
                "insert_ms": _inserts(own, reference, heap),
                "values_per_second": spread.spread([turn["values_per_second"] for turn in own]),
                "server_cpu_us_per_value": spread.spread(
                    [turn["server_cpu_us_per_value"] for turn in own]
                ),
                "unmerged": _most(own, "unmerged"),
                "sources": _most(own, "sources"),
                "backend_bytes": max(turn["backend_bytes"] for turn in own),
                "worker_bytes": max(turn["worker_bytes"] for turn in own),
            }
    return found


def targets(summary):
    """What runs are to reach: by medians, but for what must not happen once."""
    wanted = []
    for part, stores in summary.items():
        entry = stores.get(OWN)
        if entry is None:
            continue
        for name, figures in entry["questions"].items():
            ratio = figures["seconds" if name == START else "p50_ms"]["ratio"]
            wanted.append(("%s, runs to native partitions" % name, ratio, "median", READ_TARGET))
        insert = entry["insert_ms"]
        words = "p99 of a 1000-row INSERT, runs to the heap's, %s" % part
        wanted.append((words, insert["to_heap"], "median", P99_TARGET))
        words = "runs that a reader meets in an hour, %s" % part
        wanted.append((words, entry["sources"], "max", SOURCES_TARGET))
        if part == "stall":
            wanted.append(("slowest INSERT, ms", insert["max"], "max", STALL_TARGET))
    return [
        {
            "target": "%s: at most %g" % (text, limit),
            "value": value[key],
            "met": value[key] <= limit,
        }
        for text, value, key, limit in wanted
        if value is not None
    ]


def _label(result, name):
    return results.judged(STORES[name].label, name, result["problems"])


def _reading_table(result):
    rows = []
    for name, entry in result["summary"]["reading"].items():
        row = [_label(result, name)]
        for question, figures in entry["questions"].items():
            if question == START:
                row.append(results.spread_text(figures["seconds"], 2))
                row.append(results.ratio_text(figures["seconds"]["ratio"]))
            else:
                row.append(results.spread_text(figures["p50_ms"], 2))
                row.append(results.ratio_text(figures["p50_ms"]["ratio"]))
                row.append(results.number(figures["p99_ms"]["median"], 2))
            cpu = figures["cpu_ms"]
            ratio = cpu["ratio"]
            row.append(
                "%s (%s)"
                % (
                    results.number(cpu["median"], 3),
                    results.number(ratio and ratio["median"], 2),
                )
            )
        rows.append(row)
    header = ["store"]
    # results of before have fewer questions
    for question in next(iter(result["summary"]["reading"].values()))["questions"]:
        header.append(question + (" s" if question == START else " p50 ms"))
        header += ["to native"] + ([] if question == START else ["p99 ms"])
        header.append("CPU ms a query (to native)")
    return results.table(header, rows)


def _count(entry):
    return "%d, %d" % (entry["median"], entry["max"]) if entry else "-"


def _insert_table(result, part):
    rows = []
    for name, entry in result["summary"][part].items():
        insert = entry["insert_ms"]
        rows.append(
            [
                _label(result, name),
                results.number(entry["values_per_second"]["median"]),
                results.number(entry["server_cpu_us_per_value"]["median"], 2),
                results.spread_text(insert["p50"], 2),
                results.spread_text(insert["p99"], 1),
                results.ratio_text(insert["to_heap"]),
                results.spread_text(insert["max"], 1),
                _count(entry["unmerged"]),
                _count(entry["sources"]),
                results.number(entry["backend_bytes"] / 2**20, 1),
                results.number(entry["worker_bytes"] / 2**20, 1),
            ]
        )
    return results.table(
        [
            "store",
            "values/s",
            "server us/value",
            "INSERT p50 ms",
            "p99 ms",
            "to the heap's",
            "max ms",
            "unmerged runs: median, most",
            "runs a reader meets",
            "MB of a backend",
            "of the worker",
        ],
        rows,
    )


def show(result):
    """The tables of a result."""
    print(
        "\n%s items, a value a minute, compressed; %d connections, medians of %d rounds"
        % (results.number(result["items"]), result["connections"], result["rounds"])
    )
    if "reading" in result["summary"]:
        print("\nReading while %s values/s are written" % results.number(result["rate"]))
        print(_reading_table(result))
    for part in result["summary"]:
        rate = result["rate"] if part == "reading" else result["stall_rate"]
        print("\nINSERTs of 1000 rows, %s values/s offered" % results.number(rate))
        print(_insert_table(result, part))


def draw(result, stem):
    """Latency of the questions, a group of bars each."""
    if "reading" not in result["summary"]:
        return
    reading = result["summary"]["reading"]
    fig, grid = plots.grid(2, 3, 11.0, 3.2)
    for axes, question in zip(grid.flat, (*QUESTIONS, START)):
        key, unit = ("seconds", "seconds") if question == START else ("p50_ms", "median, ms")
        names = [name for name, entry in reading.items() if question in entry["questions"]]
        plots.bars(
            axes,
            names,
            [STORES[name].label for name in names],
            [reading[name]["questions"][question][key] for name in names],
        )
        axes.set_ylabel(unit)
        title = "the hour of %s items" % results.number(result["start_items"])
        axes.set_title(title if question == START else question, fontsize=10)
    plots.save(fig, stem)


def run(arguments):
    """The experiment."""
    fill_defaults(arguments)
    with bench(arguments, arguments.stores) as own:
        places = Places(arguments)
        fill(own.stores, places, arguments)
        turns = measure(own.stores, places, arguments)
        problems = verify(own.stores, places, turns)
        summary = summarize(turns, [store.name for store in own.stores], arguments.parts)
        return own.conclude(
            NAME,
            {
                "items": arguments.items,
                "fill_minutes": arguments.fill_minutes,
                "start_items": arguments.start_items,
                "rate": arguments.rate,
                "stall_rate": arguments.stall_rate,
                "seconds": arguments.seconds,
                "connections": arguments.connections,
                "rounds": arguments.rounds,
                "targets": targets(summary),
                "summary": summary,
                "runs": turns,
            },
            problems,
            show,
            draw,
        )
