"""The pack experiment: what packing a day costs, and how it affects INSERTs.

Two days of the same size are packed: the first alone, for speed, memory and WAL; the second while
values are stored at a fixed rate.
"""

import threading
import time

from . import counters, datasets, drivers, periods, plots, results, spread
from .experiment import bench
from .progress import Progress
from .stores import STORES
from .stream import Stream, latencies

NAME = "pack"
HELP = "speed, memory and WAL of packing a day, and INSERTs meanwhile"

STORE = "zbxhist-packed"
ITEMS = 30000
BATCH = 1000
STEP = 20  # simulated seconds per pass of the stream
ALONE_DAY, BUSY_DAY = -3, -2
DATASET = datasets.DATASETS[0]


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument(
        "--rows", type=int, help="rows of each day (default: 10 million; --quick: 500,000)"
    )
    parser.add_argument(
        "--rate",
        type=float,
        default=20000,
        metavar="N",
        help="values a second stored while the second day is packed (default: %(default)g)",
    )
    parser.add_argument("--connections", type=int, default=2, help="(default: %(default)s)")
    parser.add_argument(
        "--seconds",
        type=float,
        help="undisturbed seconds, half before and half after (default: 30; " "--quick: 5)",
    )


def fill_defaults(arguments):
    """Fills in the options that were not given."""
    arguments.rows = arguments.rows or (500000 if arguments.quick else 10000000)
    arguments.seconds = arguments.seconds or (5 if arguments.quick else 30)
    arguments.items = max(1, arguments.rows // datasets.PASSES_A_DAY)


class MemoryWatch(threading.Thread):
    """Samples the greatest private memory of a process, without shared buffers."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid = pid
        self.at_start = self.peak = counters.private_memory(pid)
        self.stopping = threading.Event()

    def run(self):
        while not self.stopping.wait(0.02):
            self.peak = max(self.peak, counters.private_memory(self.pid))

    def stop(self):
        """The peak, and its increase since the start."""
        self.stopping.set()
        self.join()
        return {"peak_bytes": self.peak, "growth_bytes": self.peak - self.at_start}


def pack(store, day):
    """Packs a day in a session of its own; returns time, CPU and memory."""
    connection = store.connect()
    pid = connection.get_backend_pid()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM zbxhist.status")  # loads the library and fills caches
        watch = MemoryWatch(pid)
        watch.start()
        cpu, started = counters.process_cpu(pid), time.time()
        cursor.execute("CALL zbxhist.pack('history', '%s')" % day.date)
        found = {
            "from": started,
            "to": time.time(),
            "seconds": time.time() - started,
            "cpu_seconds": counters.process_cpu(pid) - cpu,
        }
    found.update(watch.stop())
    connection.close()
    return found


def packed_bytes(store, day):
    """Size of a packed day with its index."""
    return int(
        store.execute(
            "SELECT coalesce(sum(bytes), 0) FROM zbxhist.partitions WHERE parent = 'history'::regclass "
            "AND kind = 'packed' AND from_clock = %d" % day.start
        )[0][0]
    )


def pack_alone(store, day, rows, wal):
    """Measures speed, memory and WAL without other work."""
    store.before_run()
    before = wal.position()
    found = pack(store, day)
    written = wal.between(before, wal.position())
    size = packed_bytes(store, day)
    return dict(
        found,
        rows=rows,
        packed_bytes=size,
        bytes_per_value=size / rows,
        wal_bytes=written["bytes"],
        wal_image_bytes=written["image_bytes"],
        wal_ratio=written["bytes"] / size if size else None,
        values_per_second=rows / found["seconds"],
        values_per_cpu_second=rows / found["cpu_seconds"],
    )


def undisturbed(arguments):
    """Runs half of the time without packing."""
    stage = {"stage": "undisturbed", "from": time.time()}
    time.sleep(arguments.seconds / 2)
    return dict(stage, to=time.time())


def pack_busy(store, day, arguments):
    """Stores values undisturbed, while a day is packed, and undisturbed again."""
    load = drivers.Load(
        BATCH,
        arguments.connections,
        0,
        ITEMS,
        periods.clock(periods.today()),
        items=ITEMS,
        step=STEP,
    )
    stream = Stream(store, arguments.rate, arguments.connections, load)
    try:
        time.sleep(1)
        stages = [
            undisturbed(arguments),
            dict(pack(store, day), stage="packing"),
            undisturbed(arguments),
        ]
        result, statements = stream.stop()
    finally:
        stream.close()
    quiet = spread.percentile(
        [statement["latency"] for statement in statements if not is_within(statement, stages[1])],
        0.99,
    )
    for stage in stages:
        stage.update(latencies(statements, stage))
        stage["p99_ratio"] = stage["latency_ms"]["p99"] / quiet
    return {
        "stages": stages,
        "statements": statements,
        "values": result["values"],
        "failed": result["failed"],
        "lost": result["lost"],
    }


def is_within(statement, stage):
    """Does a statement overlap a stage?"""
    return (
        statement["start"] < stage["to"]
        and statement["start"] + statement["latency"] / 1e3 > stage["from"]
    )


def contents(store):
    """Number and checksum of all rows."""
    return store.rows("history"), str(store.checksum("history"))


def compare(before, after, busy, store):
    """Packing must not change a row, and no value may be lost."""
    problems = []
    if before != after:
        problems.append(
            "%s: %d rows before packing, %d after, or others" % (store.name, before[0], after[0])
        )
    if busy["failed"] or busy["lost"]:
        problems.append(
            "%s: failed inserts %s, values lost %d" % (store.name, busy["failed"], busy["lost"])
        )
    expected = before[0] + busy["values"] + ITEMS
    rows = store.rows("history")
    if rows != expected:
        problems.append("%s: %d rows instead of %d" % (store.name, rows, expected))
    left = store.execute("SELECT count(*) FROM ONLY history")[0][0]
    if left:
        problems.append("%s: %d rows are in no partition" % (store.name, left))
    return problems


def run_store(store, arguments):
    """Packs both days; returns figures and problems."""
    alone, busy = (periods.days(day, day)[0] for day in (ALONE_DAY, BUSY_DAY))
    progress = Progress(3, NAME)
    progress.show("filling two days of %d rows" % arguments.rows)
    store.create(("history",), periods.days(ALONE_DAY, 3))
    rows = datasets.fill(store, DATASET, arguments.items, [alone, busy], alone) // 2
    store.settle()
    before = contents(store)
    wal = counters.Wal(store.cluster)
    progress.step()
    progress.show("packing %d rows" % rows)
    found = pack_alone(store, alone, rows, wal)
    after = contents(store)
    progress.step()
    progress.show("packing while values are stored")
    ingest = pack_busy(store, busy, arguments)
    progress.step()
    progress.finish()
    problems = compare(before, after, ingest, store)
    for day in (alone, busy):
        if not packed_bytes(store, day):
            problems.append("%s: %s is not packed" % (store.name, day.date))
    wal.close()
    store.drop()
    return {"alone": found, "stages": ingest["stages"]}, ingest["statements"], problems


def show(result):
    """Prints the tables of a result."""
    for name, entry in result["summary"].items():
        alone = entry["alone"]
        print("\n%s: a day of %s values" % (STORES[name].label, results.number(alone["rows"])))
        print(
            results.table(
                [
                    "values/s",
                    "per CPU s",
                    "seconds",
                    "peak memory MB",
                    "grown by MB",
                    "packed MB",
                    "bytes a value",
                    "WAL MB",
                    "WAL to packed",
                ],
                [
                    [
                        results.number(alone["values_per_second"]),
                        results.number(alone["values_per_cpu_second"]),
                        results.number(alone["seconds"], 1),
                        results.number(alone["peak_bytes"] / 2**20, 1),
                        results.number(alone["growth_bytes"] / 2**20, 1),
                        results.number(alone["packed_bytes"] / 2**20, 1),
                        results.number(alone["bytes_per_value"], 2),
                        results.number(alone["wal_bytes"] / 2**20, 1),
                        results.number(alone["wal_ratio"], 2),
                    ]
                ],
            )
        )
        print("\n%s: latency of 1000-row inserts, milliseconds" % STORES[name].label)
        print(
            results.table(
                ["stage", "seconds", "inserts", "p50", "p99", "max", "p99 ratio"],
                [
                    [
                        stage["stage"],
                        results.number(stage["to"] - stage["from"], 1),
                        stage["statements"],
                    ]
                    + [results.number(stage["latency_ms"][key], 1) for key in ("p50", "p99", "max")]
                    + ["%.2f" % stage["p99_ratio"]]
                    for stage in entry["stages"]
                ],
            )
        )


def draw_measured(summary, statements_of, stem):
    """Plots latency over time with shaded stages, for one store at most."""
    for name, entry in summary.items():
        draw_store(name, statements_of[name], entry["stages"], stem)


def draw_store(name, statements, stages, stem):
    """The plot of a store."""
    fig, axes = plots.figure()
    start = stages[0]["from"]
    axes.plot(
        [statement["start"] - start for statement in statements],
        [statement["latency"] for statement in statements],
        ".",
        markersize=2,
        color=plots.colour(name),
    )
    for number, stage in enumerate(stages):
        axes.axvspan(
            stage["from"] - start,
            stage["to"] - start,
            linewidth=0,
            color="#888888" if number % 2 else "#cccccc",
            alpha=0.25,
        )
        axes.annotate(
            stage["stage"],
            ((stage["from"] + stage["to"]) / 2 - start, 1.01),
            xycoords=("data", "axes fraction"),
            ha="center",
            fontsize=7,
        )
    plots.logarithmic_y(axes)
    axes.set_xlabel("seconds")
    axes.set_ylabel("latency of a 1000-row insert, ms")
    axes.set_title("Ingest while a day is packed: " + STORES[name].label, fontsize=10, pad=18)
    plots.save(fig, stem)


def run(arguments):
    """Runs the experiment."""
    fill_defaults(arguments)
    with bench(arguments, [STORE], autovacuum="on") as own:
        summary, statements_of, problems = {}, {}, []
        for store in own.stores:
            summary[store.name], statements_of[store.name], wrong = run_store(store, arguments)
            problems.extend(wrong)
        return own.conclude(
            NAME,
            {
                "rows": arguments.rows,
                "rate": arguments.rate,
                "connections": arguments.connections,
                "summary": summary,
            },
            problems,
            show,
            lambda _, stem: draw_measured(summary, statements_of, stem),
        )
