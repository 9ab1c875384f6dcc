"""The memory experiment: one session, 100,000 batches, constant memory, no leaked resources.

The batches hold all five value types, spread over several days as a proxy's
backlog is, and the first ones are duplicates, so that the paths of errors and
of several partitions a statement are among those repeated.
"""

import re
import time

from . import counters, drivers, periods, plots, results
from .experiment import bench
from .progress import Progress
from .stores import STORES

NAME = "memory"
HELP = "private memory and memory contexts of one session over 100,000 batches"

DEFAULT_STORES = ["zbxhist"]
ROWS = 100  # values a batch
DAYS = 3  # over which a batch is spread
CONTEXT_SLACK = 64 * 1024  # growth that is not called growth
PRIVATE_SLACK = 1024 * 1024

GRAND_TOTAL = re.compile(
    r"\[(\d+)\] LOG:  Grand total: (\d+) bytes in \d+ blocks; "
    r"\d+ free \(\d+ chunks\); (\d+) used"
)
LEAK = re.compile(r"leak|still referenced|still active|WARNING|PANIC|FATAL", re.IGNORECASE)


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument(
        "--stores", default=",".join(DEFAULT_STORES), help="comma-separated (default: %(default)s)"
    )
    parser.add_argument("--batches", type=int, help="(default: 100000; --quick: 5000)")
    parser.add_argument("--items", type=int, default=10000, help="(default: %(default)s)")


def load_of(arguments, batches):
    """So many batches from the stream's start."""
    return drivers.Load(
        "loader",
        ROWS,
        1,
        batches * ROWS,
        0,
        periods.clock(periods.today()),
        items=arguments.items,
        mix="zabbix",
    )


def preload(store, arguments):
    """Rows that the session will send again: two per cent of its batches."""
    batches = arguments.batches // 50
    loader = drivers.LoaderProcess(
        [
            "--dsn=" + store.dsn(),
            "--days=%d" % DAYS,
            "--handshake",
            "--values=%d" % (batches * ROWS),
        ]
        + drivers.stream_arguments(load_of(arguments, batches))
    )
    loader.event("ready")
    loader.go_on()
    values = loader.event("done")["values"]
    loader.finish()
    loader.kill()
    return values


class Sampler:
    """Reads a backend's memory: from /proc, and its own account in the server log."""

    def __init__(self, cluster, pid):
        self.cluster = cluster
        self.pid = pid
        self.private = []
        self.connection = cluster.connect()

    def sample(self):
        """Notes private memory, and asks the backend to log its contexts."""
        self.private.append(counters.private_memory(self.pid))
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT pg_log_backend_memory_contexts(%s)", (self.pid,))

    def commits(self, store):
        """Transactions of the store's database so far: for the progress bar."""
        with self.connection.cursor() as cursor:
            cursor.execute(
                "SELECT xact_commit FROM pg_stat_database WHERE datname = %s", (store.database,)
            )
            return cursor.fetchone()[0]

    def contexts(self):
        """(allocated, used) bytes of all contexts, by sample."""
        return [
            (int(total), int(used))
            for pid, total, used in GRAND_TOTAL.findall(self.cluster.log_text())
            if int(pid) == self.pid
        ]

    def close(self):
        """Disconnects."""
        self.connection.close()


def watch(loader, sampler, store, arguments):
    """Samples in even steps until the loader is done."""
    progress = Progress(arguments.batches, "memory")
    before = sampler.commits(store)
    while not loader.has_output(0.2 if arguments.quick else 1.0):
        sampler.sample()
        progress.done = min(arguments.batches, sampler.commits(store) - before)
        progress.show(store.name)
    progress.finish()


def run_store(store, arguments):
    """One session; returns the loader's result and the samples."""
    preloaded = preload(store, arguments)
    loader = drivers.LoaderProcess(
        [
            "--dsn=" + store.dsn(),
            "--values=%d" % (arguments.batches * ROWS),
            "--handshake",
            "--days=%d" % DAYS,
        ]
        + drivers.stream_arguments(load_of(arguments, arguments.batches))
    )
    try:
        sampler = Sampler(store.cluster, loader.event("ready")["pids"][0])
        loader.go_on()
        watch(loader, sampler, store, arguments)
        result = loader.event("done")
        sampler.sample()
        time.sleep(0.2)
        loader.finish()
    finally:
        loader.kill()
    sampler.close()
    return {
        "preloaded": preloaded,
        "values": result["values"],
        "lost": result["lost"],
        "duplicates": result["duplicates"],
        "failed": result["failed"],
        "seconds": result["seconds"],
        "statements": result["statements"],
        "private_bytes": sampler.private,
        "contexts": sampler.contexts(),
    }


def growth(samples):
    """How much the least of the last quarter is above that of the second quarter.

    Samples fall into the middle of statements, which need memory while they
    run; the least of many is the memory that is kept between them.
    """
    quarter = max(1, len(samples) // 4)
    return min(samples[-quarter:]) - min(samples[quarter : 2 * quarter] or samples)


def judge(store, measured):
    """What is wrong with a session, and its figures."""
    used = [entry[1] for entry in measured["contexts"]]
    allocated = [entry[0] for entry in measured["contexts"]]
    summary = {
        "context_growth": growth(used),
        "allocated_growth": growth(allocated),
        "private_growth": growth(measured["private_bytes"]),
        "context_bytes": min(used[len(used) // 4 :]),
        "context_peak": max(used),
        "private_peak": max(measured["private_bytes"]),
    }
    problems = []
    if summary["context_growth"] > CONTEXT_SLACK or summary["allocated_growth"] > CONTEXT_SLACK:
        problems.append("%s: memory contexts grow" % store.name)
    if summary["private_growth"] > PRIVATE_SLACK:
        problems.append("%s: private memory grows" % store.name)
    if (
        measured["duplicates"] != measured["preloaded"]
        or measured["lost"]
        or set(measured["failed"]) - {"23505"}
    ):
        problems.append(
            "%s: failed %s, %d of %d duplicates found, %d values lost"
            % (
                store.name,
                measured["failed"],
                measured["duplicates"],
                measured["preloaded"],
                measured["lost"],
            )
        )
    return summary, problems + store.check()


def leaks(cluster):
    """Lines of the server log that tell of leaked relations, buffers, snapshots."""
    return [line for line in cluster.log_text().splitlines() if LEAK.search(line)]


def show(result):
    """The table of a result, a line a store."""
    all_measured = result["runs"]
    rows = [
        [
            STORES[name].label,
            results.number(all_measured[name]["statements"]),
            results.number(entry["context_bytes"] / 1024),
            results.number(entry["context_growth"] / 1024, 1),
            results.number(entry["context_peak"] / 1024),
            results.number(entry["private_peak"] / 1024),
            results.number(entry["private_growth"] / 1024),
        ]
        for name, entry in result["summary"].items()
    ]
    print(
        results.table(
            ["store", "INSERTs", "contexts kB", "growth kB", "peak kB", "private kB", "growth kB"],
            rows,
        )
    )


def draw(result, stem):
    """Memory over the session."""
    fig, axes = plots.figure()
    for store, measured in result["runs"].items():
        for key, values, style in (
            ("private memory", measured["private_bytes"], "-"),
            ("memory contexts", [entry[1] for entry in measured["contexts"]], ":"),
        ):
            steps = [measured["seconds"] * place / len(values) for place in range(len(values))]
            axes.plot(
                steps,
                [value / 2**20 for value in values],
                style,
                color=plots.colour(store),
                label="%s, %s" % (STORES[store].label, key),
            )
    axes.set_ylim(bottom=0)
    axes.set_xlabel("seconds of the session")
    axes.set_ylabel("MB")
    axes.set_title("Memory of one session", fontsize=10)
    plots.legend_beside(axes)
    plots.save(fig, stem)


def run(arguments):
    """The experiment."""
    arguments.batches = arguments.batches or (5000 if arguments.quick else 100000)
    with bench(arguments, arguments.stores.split(","), log_min_error_statement="panic") as own:
        all_measured, summaries, problems = {}, {}, []
        for store in own.stores:
            store.create(drivers.tables("zabbix"), periods.days(1 - DAYS, 10))
            all_measured[store.name] = run_store(store, arguments)
            summaries[store.name], wrong = judge(store, all_measured[store.name])
            problems.extend(wrong)
        lines = leaks(own.cluster)
        return own.conclude(
            NAME,
            {
                "batches": arguments.batches,
                "rows": ROWS,
                "items": arguments.items,
                "log_warnings": len(lines),
                "summary": summaries,
                "runs": all_measured,
            },
            problems + ["server log: " + line for line in lines[:10]],
            show,
            draw,
        )
