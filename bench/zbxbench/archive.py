"""The archive experiment: packed days on another server, moved there and read there.

The other server is a second cluster on the same machine.  A delaying proxy before
its socket makes the network: nothing else is slower than here, so that what is
measured is what round trips cost.  Answers are compared with those of a plain table.
"""

import random
import statistics
import time

from . import counters, plots, results
from .delay import delayed
from .experiment import bench, names_of
from .progress import Progress
from .read_data import TABLE, Installation, Size
from .stores import STORES

NAME = "archive"
HELP = "packed days moved to another server and back, and read there over a network"

DEFAULT_STORES = ("plain", "native", "zbxhist-packed", "zbxhist-archived")
ARCHIVED = "zbxhist-archived"
DAY, HOUR = 86400, 3600

# the project's limits
LEAST_MB = 100  # of payload a second of a core
MOST_MS = 50  # the values of an item, 30 archived days, at a round trip of 1 ms

PAUSED = "archive, with the pauses of maintenance"
VALUES, HOURS, DAYS, NEWEST = "values", "by hour", "by day", "newest value"
GROUPED = (
    "SELECT clock/%d*%d,count(*),min(value),max(value),avg(value) FROM {table} "
    "WHERE {where} GROUP BY 1"
)
QUESTIONS = {
    VALUES: "SELECT * FROM {table} WHERE {where}",
    HOURS: GROUPED % (HOUR, HOUR),
    DAYS: GROUPED % (DAY, DAY),
    NEWEST: "SELECT * FROM {table} WHERE {where} ORDER BY clock DESC LIMIT 1",
}


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument("--stores", help="comma-separated (default: %s)" % ",".join(DEFAULT_STORES))
    parser.add_argument("--items", type=int, help="(default: 500; --quick: 20)")
    parser.add_argument("--days", type=int, help="that are archived (default: 30; --quick: 3)")
    parser.add_argument(
        "--interval",
        type=int,
        default=60,
        metavar="SECONDS",
        help="between two values of an item (default: %(default)s)",
    )
    parser.add_argument(
        "--round-trip",
        type=float,
        default=1.0,
        metavar="MS",
        help="of the network (default: %(default)s)",
    )
    parser.add_argument(
        "--servers",
        type=int,
        default=1,
        choices=(1, 2),
        help="that have the days, by turns (default: %(default)s)",
    )
    parser.add_argument("--rounds", type=int, help="(default: 11; --quick: 3)")


# ---- moving ----


class Meter:
    """Seconds of CPU of both servers, and of the clock, since the last look."""

    def __init__(self, store):
        self.pids = store.server_pid(), store.cold.postmaster_pid
        self.before = self._read()

    def _read(self):
        return [counters.server_cpu(pid) for pid in self.pids] + [time.monotonic()]

    def taken(self):
        """Seconds of CPU here and there, and of the clock."""
        return [now - then for now, then in zip(self._read(), self.before)]


def speeds(taken, nbytes):
    """What moving so many bytes of payload has taken."""
    here, there, clock = taken
    megabytes = nbytes / 1e6
    return {
        "megabytes": megabytes,
        "cpu_here": here,
        "cpu_there": there,
        "seconds": clock,
        "mb_per_cpu_here": megabytes / here,
        "mb_per_cpu_there": megabytes / there,
        "mb_per_cpu": megabytes / (here + there),
        "mb_per_second": megabytes / clock,
    }


def move_all(store, installation, servers, progress):
    """There by one step after the other, without pauses; back; there as maintenance does it."""
    moves = {}
    for name, step in (("archive", "archive"), ("unarchive", "unarchive"), (PAUSED, None)):
        progress.show(name)
        meter = Meter(store)
        for number, period in enumerate(installation.past):
            store.archive_on(TABLE, number % servers)
            if step:
                store.move(TABLE, step, period)
            else:
                store.execute("CALL zbxhist.archive('%s', '%s')" % (TABLE, period.date))
        moves[name] = meter.taken()
        progress.step()
    nbytes = store.payload(TABLE)
    store.settle_there()
    return {name: speeds(entry, nbytes) for name, entry in moves.items()}


# ---- reading ----


def statement(question, installation, itemid):
    """Its text."""
    return QUESTIONS[question].format(
        table=TABLE,
        where="itemid=%d AND clock>=%d AND clock<%d"
        % (itemid, installation.past[0].start, installation.today.start),
    )


def rows_of(answer):
    """What is compared: without avg, whose last digits are the order's."""
    return sorted(tuple(row[:4]) for row in answer)


def asked(store, text):
    """Milliseconds, and rows, of a statement in a session that has done something else before."""
    connection = store.open_connection()
    try:
        connection.execute("SELECT 1 FROM %s WHERE itemid=0 AND clock>=2000000000" % TABLE)
        return timed(connection, text)
    finally:
        connection.close()


def timed(connection, text):
    """Milliseconds, and rows, of a statement."""
    start = time.perf_counter()
    answer = connection.execute(text)
    return (time.perf_counter() - start) * 1000, rows_of(answer)


def read(store, installation, rounds):
    """Times by question, of new sessions and of one that goes on; and all answers."""
    times, answers = {}, []
    connection = store.open_connection()
    for question in QUESTIONS:
        chooser = random.Random(question)
        cold, warm = [], []
        # the first round of either makes pages and plans known
        for number in range(rounds + 1):
            text = statement(question, installation, installation.item(chooser))
            pairs = asked(store, text), timed(connection, text)
            answers += [rows for _, rows in pairs]
            if number > 0:
                cold.append(pairs[0][0])
                warm.append(pairs[1][0])
        times[question] = {"cold": statistics.median(cold), "warm": statistics.median(warm)}
    connection.close()
    return times, answers


def round_trip(store):
    """Milliseconds that a statement takes from the proxy to the server and back."""
    connection = store.open_there()
    found = [timed(connection, "SELECT 1,1,1,1")[0] for _ in range(50)]
    connection.close()
    return statistics.median(found)


def read_all(own, installation, arguments, progress):
    """All stores, the archive by its socket and over the network."""
    reads, problems, trips = {}, [], {}
    expected = None
    for store in own.stores:
        networks = {"": None}
        if store.name == ARCHIVED:
            networks = {"no network": 0, "%g ms" % arguments.round_trip: arguments.round_trip}
        for network, delay in networks.items():
            progress.show("%s %s" % (store.label, network))
            if delay is not None:
                store.go_through(own.proxies[delay])
                trips[network] = round_trip(store)
            key = "%s, %s" % (store.label, network) if network else store.label
            reads[key], answers = read(store, installation, arguments.rounds)
            expected = expected or answers
            if answers != expected:
                problems.append("%s: answers are not those of %s" % (key, own.stores[0].label))
            progress.step()
    return reads, problems, trips


# ---- the result ----


def targets(moves, reads, arguments):
    """Whether the project's limits are kept."""
    entries = []
    for part, name in (("_here", "here"), ("_there", "there"), ("", "of both servers together")):
        value = moves["archive"]["mb_per_cpu" + part]
        entries.append(
            {
                "target": "archive: MB of payload a second of a core, %s, at least %d"
                % (name, LEAST_MB),
                "value": value,
                "met": value >= LEAST_MB,
            }
        )
    far = "%s, %g ms" % (STORES[ARCHIVED].label, arguments.round_trip)
    for state in ("warm", "cold"):
        value = reads[far][VALUES][state]
        entries.append(
            {
                "target": "an item's values of %d archived days, %s connection, ms, at most %d"
                % (arguments.days, state, MOST_MS),
                "value": value,
                "met": value <= MOST_MS,
            }
        )
    return entries


def show(result):
    """The tables of a result."""
    columns = ("mb_per_cpu_here", "mb_per_cpu_there", "mb_per_cpu", "mb_per_second")
    rows = [
        [name, results.number(entry["megabytes"], 1)]
        + [results.number(entry[column], 1) for column in columns]
        for name, entry in result["moves"].items()
    ]
    header = ["payload", "MB", "MB/CPU s here", "there", "both", "MB/s"]
    print(results.table(header, rows))
    print("\nMilliseconds, new session / one that goes on; median of %d:\n" % result["rounds"])
    rows = [
        [name]
        + [
            "%.1f / %.1f" % (entry[each]["cold"], entry[each]["warm"])
            for each in result["questions"]
        ]
        for name, entry in result["reads"].items()
    ]
    print(results.table(["store"] + result["questions"], rows))


def draw(result, stem):
    """Milliseconds of each question, a bar a store."""
    fig, axes = plots.figure(8.0)
    names = list(result["reads"])
    width = 0.8 / len(names)
    for number, name in enumerate(names):
        heights = [result["reads"][name][each]["warm"] for each in result["questions"]]
        places = [place + number * width for place in range(len(heights))]
        axes.bar(places, heights, width, label=name)
    plots.logarithmic_y(axes)
    axes.set_xticks([place + 0.4 - width / 2 for place in range(len(result["questions"]))])
    axes.set_xticklabels(result["questions"])
    axes.set_ylabel("ms, in a session that goes on")
    axes.set_title("An item, %d days" % result["days"], fontsize=10)
    plots.legend_beside(axes)
    plots.save(fig, stem)


def measure(own, arguments):
    """All of it; the exit code."""
    installation = Installation(
        Size(arguments.items, arguments.interval), own.stores, arguments.days
    )
    progress = Progress(2 * len(own.stores) + 4, NAME)
    for store in own.stores:
        progress.show("fill %s" % store.label)
        installation.fill(store)
        progress.step()
    archived = next(store for store in own.stores if store.name == ARCHIVED)
    moves = move_all(archived, installation, arguments.servers, progress)
    here = archived.cold.directory / "socket"
    with delayed(archived.cold.directory / "far", here, arguments.round_trip / 1000) as far:
        own.proxies = {0: str(here), arguments.round_trip: far}
        reads, problems, trips = read_all(own, installation, arguments, progress)
    progress.finish()
    return own.conclude(
        NAME,
        {
            "items": arguments.items,
            "days": arguments.days,
            "interval": arguments.interval,
            "servers": arguments.servers,
            "rounds": arguments.rounds,
            "network": "a proxy that delays each way",
            "round_trip_ms": trips,
            "questions": list(QUESTIONS),
            "moves": moves,
            "reads": reads,
            "targets": targets(moves, reads, arguments),
        },
        problems,
        show,
        draw,
    )


def run(arguments):
    """The experiment."""
    arguments.items = arguments.items or (20 if arguments.quick else 500)
    arguments.days = arguments.days or (3 if arguments.quick else 30)
    arguments.rounds = arguments.rounds or (3 if arguments.quick else 11)
    with bench(arguments, names_of(arguments, DEFAULT_STORES)) as own:
        if ARCHIVED in own.skipped:
            print("bench/run archive: %s" % own.skipped[ARCHIVED])
            return 0
        return measure(own, arguments)
