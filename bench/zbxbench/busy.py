"""The busy experiment: real Zabbix servers, one per store, fed the same values at the same time.

Each store has a PostgreSQL server with default settings, and a Zabbix server that uses it.
Senders send values of 60,000 items, pages are requested as the frontend does, and checkpoints,
autovacuum and maintenance run.  Everything that a PostgreSQL server does is counted.  At the end
all stores must hold the same values.
"""

import contextlib
import random
import re
import tempfile
import threading
import time

from . import counters, environment, libpq, periods, plots, results, spread
from .busy_zabbix import FEEDS, FIRST_ITEM, ITEMS_OF_HOST, Zabbix, debs, fetch, proc
from .cluster import Cluster
from .experiment import Bench, names_of
from .life_days import Lines
from .progress import Progress, say
from .read import statements
from .stores import STORES

NAME = "busy"
HELP = "real Zabbix servers at work at the same time, one per store: CPU, WAL, pages, latency"

DEFAULT_STORES = ["plain", "native", "timescaledb", "zbxhist-setup"]
REFERENCE = "plain"
MOST_RATES = "6000,10000,15000,20000,30000,60000"  # 60,000 items, every 10 seconds to every second
TABLES = ("history", "history_uint", "history_str", "history_text", "history_log")
TRENDS = ("trends", "trends_uint")
WARM_UP = 30  # seconds
LOGGED = 60  # seconds after the measured ones in which the servers log each statement
MAINTENANCE = 300  # seconds between two runs, as docs/setting-up.md has it
PAGE = 2  # seconds between two pages
DRAIN = 600  # seconds at most until the last value is stored
ALLOWANCE = 10  # seconds a Zabbix server may lag behind: what is later was too much for it
# the other settings are those of a fresh PostgreSQL
SETTINGS = {"timezone": "UTC", "log_min_messages": "warning", "log_line_prefix": "%m [%p] "}
# the statements of bench/data/read.sql that a page sends, and how often
SHAPES = {
    "value cache, range": 2,
    "value cache, newest 2": 2,
    "latest data, newest 2": 10,
    "latest data, newest, whenever": 2,
    "history.get": 1,
    "history.get, count": 1,
    "classic graph": 1,
    "svggraph, average": 1,
    "svggraph, last (7.0)": 1,
    "widget, one number an item": 1,
}
FEW = 10  # statements of a shape below which its ratio is chance
FLOATS = (0, 2, 4, 6, 8)  # items of ten
FILLED = {"history": FLOATS, "history_uint": (1, 3, 5, 7)}
FILLED_STEP = 600  # seconds between two values of an item in the hours before

PAGES = """
SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter
"""
PAGES_17 = """
SELECT (SELECT buffers_written FROM pg_stat_checkpointer) + (SELECT buffers_clean FROM pg_stat_bgwriter)
     + (SELECT coalesce(sum(writes), 0) + coalesce(sum(extends), 0) FROM pg_stat_io
         WHERE object = 'relation' AND backend_type NOT IN ('checkpointer', 'background writer'))
"""
STORED = "SELECT %s" % " + ".join("(SELECT count(*) FROM %s)" % table for table in TABLES)


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument("--stores", help="comma-separated (default: %s)" % ",".join(DEFAULT_STORES))
    parser.add_argument("--items", type=int, help="monitored items (default: 60000; --quick: 6000)")
    parser.add_argument(
        "--rates",
        help="values a second (default: 1000,3000,6000; --most: 6000 to 60000; --quick: 600)",
    )
    parser.add_argument(
        "--most",
        action="store_true",
        help="feed one store at a time, at rising rates, each until it falls behind",
    )
    parser.add_argument(
        "--seconds", type=int, help="measured seconds at each rate (default: 300; --quick: 20)"
    )
    parser.add_argument(
        "--filled-hours",
        type=int,
        default=24,
        metavar="N",
        help="hours of earlier values, one every ten minutes (default: %(default)s)",
    )
    parser.add_argument(
        "--feed",
        choices=sorted(FEEDS),
        default="agents",
        help="the senders: 600 agents with few values each, or zabbix_sender (default: %(default)s)",
    )
    parser.add_argument("--wal-compression", default="off", metavar="METHOD")


def fill_defaults(arguments):
    """Fills in the options that were not given."""
    quick = arguments.quick
    arguments.items = arguments.items or (6000 if quick else 60000)
    rates = MOST_RATES if arguments.most else "1000,3000,6000"
    rates = arguments.rates or ("600" if quick else rates)
    arguments.rates = [int(rate) for rate in rates.split(",")]
    arguments.seconds = arguments.seconds or (20 if quick else 300)
    arguments.filled_hours = 1 if quick else arguments.filled_hours
    arguments.stores = names_of(arguments, DEFAULT_STORES)


def earlier(hosts, table, hours):
    """COPY text of earlier values; without them every data page would be a new one."""
    last = int(time.time()) // periods.HOUR * periods.HOUR - periods.HOUR
    items = [
        FIRST_ITEM + number
        for number in range(hosts * ITEMS_OF_HOST)
        if number % ITEMS_OF_HOST % 10 in FILLED[table]
    ]
    for clock in range(last - hours * periods.HOUR, last, FILLED_STEP):
        yield "".join(
            "%d\t%d\t%d\t%d\n"
            % (item, clock + item % 60, (item + clock) % 9973, item * 997 % 10**9)
            for item in items
        )


class Frontend(threading.Thread):
    """Requests pages, each on a connection of its own, as PHP does, and notes the cost of each
    shape."""

    def __init__(self, zabbix, items):
        super().__init__(daemon=True)
        self.store, self.items = zabbix.store, items
        self.texts = {name: text for name, _, text in statements("read")}
        self.stopping = threading.Event()
        self.noted = None  # a list when it is to be noted
        self.error = None

    def _fields(self, chooser):
        host = chooser.randrange(self.items // ITEMS_OF_HOST) * ITEMS_OF_HOST
        floats = [FIRST_ITEM + host + n for n in range(ITEMS_OF_HOST // 2) if n % 10 in FLOATS]
        items = chooser.sample(floats, 10)
        last = int(time.time())
        return {
            "item": items[0],
            "items": ",".join(map(str, items)),
            "first": last - periods.HOUR,
            "before": last - 600,
            "last": last,
            "span": periods.HOUR,
            "bucket": 60,
        }

    def run(self):
        chooser = random.Random(1)
        try:
            while not self.stopping.wait(PAGE):
                fields = self._fields(chooser)
                connection = libpq.Connection(self.store.dsn())
                for shape, count in SHAPES.items():
                    for _ in range(count):
                        self._ask(connection, shape, self.texts[shape].format(**fields))
                connection.close()
        except (libpq.Error, OSError) as error:
            self.error = error

    def _ask(self, connection, shape, text):
        cpu = counters.process_cpu(connection.pid)
        connection.execute(text)
        if self.noted is not None:
            self.noted.append((shape, counters.process_cpu(connection.pid) - cpu))

    def stop(self):
        """Ends after the current page."""
        self.stopping.set()
        self.join()
        if self.error:
            raise RuntimeError("%s: a page: %s" % (self.store.name, self.error))


class Maintenance(threading.Thread):
    """Runs maintenance by a timer, as cron does."""

    def __init__(self, store):
        super().__init__(daemon=True)
        self.store = store
        self.stopping = threading.Event()

    def run(self):
        while not self.stopping.wait(MAINTENANCE):
            self.store.maintain()

    def stop(self):
        """Ends when no run is under way."""
        self.stopping.set()
        self.join()


class Site:
    """A store with its PostgreSQL server and its Zabbix server."""

    def __init__(self, release, name, arguments, directory, stack):
        settings = dict(SETTINGS, wal_compression=arguments.wal_compression)
        bindir = environment.pg_config(arguments.pg_config, "bindir")
        self.cluster = stack.enter_context(Cluster(bindir, settings, arguments.data_directory))
        self.store = STORES[name](self.cluster)
        self.cluster = self.store.cluster
        self.zabbix = Zabbix(release, self.store, arguments.items // ITEMS_OF_HOST, directory)
        self.store.load_schema = self.zabbix.load_schema

    def begin(self, filled_hours):
        """Makes everything, fills in the earlier hours, and starts Zabbix."""
        self.store.create(TABLES + TRENDS, periods.days(-2 - filled_hours // 24, 2))
        self.zabbix.configure()
        for table in FILLED:
            self.store.fill(table, Lines(earlier(self.zabbix.hosts, table, filled_hours)))
        self.store.maintain()
        self.store.settle()
        self.cluster.checkpoint()
        self.zabbix.start()

    def read_counters(self):
        """Reads what PostgreSQL and Zabbix have used so far, and what is stored."""
        version = int(self.cluster.execute("SHOW server_version_num")[0][0])
        return {
            "cpu": counters.server_cpu(self.cluster.postmaster_pid),
            "zabbix_cpu": counters.server_cpu(self.zabbix.process.pid),
            "wal": int(
                self.cluster.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")[0][0]
            ),
            "pages": 8192
            * int(self.cluster.execute(PAGES_17 if version >= 170000 else PAGES)[0][0]),
            "written": counters.written_bytes(self.cluster.postmaster_pid),
            "disk": self.store.disk_bytes(),
        }

    def stored(self):
        """The number of rows of all value types."""
        return int(self.store.execute(STORED)[0][0])

    def log_statements(self, on):
        """Makes the server log all statements with their durations, or stop it."""
        self.cluster.execute("ALTER SYSTEM SET log_min_duration_statement = %d" % (0 if on else -1))
        self.cluster.execute("SELECT pg_reload_conf()")

    def inserts(self, since):
        """(milliseconds, rows) of each INSERT logged after a position in the log."""
        text = self.cluster.log_text()[since:]
        found = re.findall(
            r"duration: ([\d.]+) ms  statement: insert into history\S* [^\n]*? values (.*)", text
        )
        return [(float(took), rows.count("),(") + 1) for took, rows in found]

    def contents(self):
        """Count and sums of each table."""
        return {
            table: [
                str(value)
                for value in self.store.execute(
                    "SELECT count(*), sum(itemid), sum(clock), sum(ns), "
                    "sum(hashtext(value::text)::bigint) FROM " + table
                )[0]
            ]
            for table in TABLES
        }


def wait_until_stored(sites, feed, stored, problems):
    """Waits until Zabbix has stored all that was sent; returns how many seconds each took.

    stored: the expected number of rows of each store
    """
    began, took = time.monotonic(), {}
    while len(took) < len(sites) and time.monotonic() - began < DRAIN:
        for site in sites:
            if site.store.name not in took and site.zabbix.has_stored_all():
                took[site.store.name] = time.monotonic() - began
        time.sleep(0.5)
    for site in sites:
        name = site.store.name
        found = site.stored()
        while found < stored[name] and time.monotonic() - began < DRAIN:
            time.sleep(2)
            found = site.stored()
        if found != stored[name]:
            problems.append("%s: %d values stored, %d sent" % (name, found, stored[name]))
        if feed.refused[name]:
            problems.append("%s: Zabbix refused %d values" % (name, feed.refused[name]))
    return took


def measure_rate(sites, rate, arguments, stored, problems, progress):
    """Runs one rate: warm-up, measurement, logging, and the time until all is stored."""
    names = ", ".join(site.store.name for site in sites)
    progress.show("%d values a second: %s" % (rate, names))
    feed = FEEDS[arguments.feed](
        [site.zabbix for site in sites],
        arguments.items // ITEMS_OF_HOST,
        max(1, arguments.items // rate),
    )
    pages = [Frontend(site.zabbix, arguments.items) for site in sites]
    feed.start()
    for page in pages:
        page.start()
    time.sleep(WARM_UP)
    for site in sites:
        site.cluster.checkpoint()
    before, sent = [site.read_counters() for site in sites], feed.sent
    for page in pages:
        page.noted = []
    time.sleep(arguments.seconds)
    noted = [page.noted for page in pages]
    for page in pages:
        page.noted = None
    sent = feed.sent - sent
    for site in sites:
        site.cluster.checkpoint()
    after = [site.read_counters() for site in sites]
    marks = [len(site.cluster.log_text()) for site in sites]
    for site in sites:
        site.log_statements(True)
    time.sleep(min(LOGGED, arguments.seconds))
    feed.stop()
    for page in pages:
        page.stop()
    for site in sites:
        stored[site.store.name] += feed.sent
    took = wait_until_stored(sites, feed, stored, problems)
    for site in sites:
        site.log_statements(False)
    runs = []
    for site, old, new, shapes, mark in zip(sites, before, after, noted, marks):
        name = site.store.name
        inserts = site.inserts(mark)
        runs.append(
            {
                "store": name,
                "rate": rate,
                "values": sent,
                "values_per_second": sent / arguments.seconds,
                "sustained": took.get(name, DRAIN) < ALLOWANCE and feed.late < ALLOWANCE,
                "behind_seconds": took.get(name),
                "cpu_us": (new["cpu"] - old["cpu"]) / sent * 1e6,
                "reads_cpu_us": sum(cpu for _, cpu in shapes) / sent * 1e6,
                "zabbix_cpu_us": (new["zabbix_cpu"] - old["zabbix_cpu"]) / sent * 1e6,
                "wal_bytes": (new["wal"] - old["wal"]) / sent,
                "page_bytes": (new["pages"] - old["pages"]) / sent,
                "written_bytes": new["written"] and (new["written"] - old["written"]) / sent,
                "disk_bytes": (new["disk"] - old["disk"]) / sent,
                "insert_ms": {
                    "p50": spread.percentile([took for took, _ in inserts], 0.5),
                    "p99": spread.percentile([took for took, _ in inserts], 0.99),
                },
                "rows_per_insert": sum(rows for _, rows in inserts) / max(1, len(inserts)),
                "inserts": len(inserts),
                "reads": {
                    shape: {
                        "count": len(cpus),
                        "cpu_ms": spread.spread([cpu * 1e3 for cpu in cpus]),
                    }
                    for shape in SHAPES
                    for cpus in [[cpu for asked, cpu in shapes if asked == shape]]
                },
            }
        )
    return runs


def measure(sites, arguments, problems, progress):
    """Runs all rates: all stores at once, or with --most one after the other."""
    runs, stored = [], {site.store.name: site.stored() for site in sites}
    for rate in arguments.rates:
        for together in [[site] for site in sites] if arguments.most else [sites]:
            runs += measure_rate(together, rate, arguments, stored, problems, progress)
        if arguments.most:
            late = [run["store"] for run in runs if not run["sustained"]]
            sites = [site for site in sites if site.store.name not in late]
        progress.step()
    return runs


def compare(sites, problems, at_once):
    """All stores must hold the same, if they were fed at the same time."""
    contents = [site.contents() for site in sites]
    for site, found in zip(sites, contents):
        for table in TABLES:
            if at_once and found[table] != contents[0][table]:
                problems.append(
                    "%s: other values in %s than %s" % (site.store.name, table, sites[0].store.name)
                )
        problems.extend(site.store.check())
        for line in re.findall(r"^.*(?:query failed|slow query).*$", site.zabbix.log(), re.M)[:3]:
            problems.append("%s: zabbix_server: %s" % (site.store.name, line[:200]))
    return {table: int(contents[0][table][0]) for table in TABLES}


def _of(result, rate):
    """The runs of a rate by store."""
    return {run["store"]: run for run in result["runs"] if run["rate"] == rate}


def show(result):
    """Prints a table per rate, and one of the page's statements."""
    for rate in result["rates"]:
        runs = _of(result, rate)
        if not runs:
            continue
        plain = runs.get(REFERENCE)
        rows = []
        for name, run in runs.items():
            ratio = plain and run["cpu_us"] / plain["cpu_us"]
            rows.append(
                [
                    results.judged(STORES[name].label, name, result["problems"]),
                    results.number(run["values_per_second"])
                    + ("" if run["sustained"] else " (late)"),
                    results.number(run["cpu_us"], 1),
                    results.number(ratio, 2),
                    results.number(run["wal_bytes"]),
                    results.number(run["page_bytes"]),
                    results.number(run["disk_bytes"]),
                    results.number(run["rows_per_insert"]),
                    results.number(run["insert_ms"]["p50"], 2),
                    results.number(run["insert_ms"]["p99"], 1),
                    results.number(run["zabbix_cpu_us"], 1),
                ]
            )
        print("\n%d values a second: what a value takes, reads and everything else counted" % rate)
        print(
            results.table(
                [
                    "store",
                    "values/s",
                    "CPU µs",
                    "to plain",
                    "WAL bytes",
                    "pages, bytes",
                    "disk bytes",
                    "rows an INSERT",
                    "p50 ms",
                    "p99",
                    "Zabbix CPU µs",
                ],
                rows,
            )
        )
        _show_reads(runs, plain)


def _show_reads(runs, plain):
    """Prints the CPU of the page's statements."""
    rows = []
    for shape in SHAPES:
        row = [shape]
        for run in runs.values():
            own, base = run["reads"][shape], plain and plain["reads"][shape]
            if own["count"] < FEW:
                row.append("-")
            elif run is plain or not base or base["count"] < FEW:
                row.append(results.number(own["cpu_ms"]["median"], 3) + " ms")
            else:
                row.append(results.number(own["cpu_ms"]["median"] / base["cpu_ms"]["median"], 2))
        rows.append(row)
    print("\nCPU of statements of the frontend, to a plain table's")
    print(results.table([""] + [STORES[name].label for name in runs], rows))


def draw(result, stem):
    """Plots CPU, WAL and pages by rate."""
    fig, grid = plots.grid(1, 3, 11.0, 3.2)
    names = result["stores"]
    for axes, (field, title) in zip(
        grid.flat,
        (
            ("cpu_us", "CPU of PostgreSQL, µs a value"),
            ("wal_bytes", "WAL, bytes a value"),
            ("page_bytes", "pages written, bytes a value"),
        ),
    ):
        for place, name in enumerate(names):
            axes.bar(
                [
                    number + (place - (len(names) - 1) / 2) * 0.8 / len(names)
                    for number in range(len(result["rates"]))
                ],
                [_of(result, rate).get(name, {field: 0})[field] for rate in result["rates"]],
                0.8 / len(names),
                color=plots.colour(name),
                label=STORES[name].label,
            )
        axes.set_xticks(range(len(result["rates"])))
        axes.set_xticklabels(["{:,}/s".format(rate) for rate in result["rates"]])
        axes.set_title(title, fontsize=9)
    grid.flat[0].legend(fontsize=7)
    plots.save(fig, stem)


def make_sites(arguments, directory, stack):
    """Yields the stores that can be measured with their servers, and says why others cannot."""
    release = fetch(directory)
    say("Zabbix " + release.full_version)
    bindir = environment.pg_config(arguments.pg_config, "bindir")
    with Cluster(bindir, SETTINGS, arguments.data_directory) as probe:
        skipped = {
            name: reason
            for name in arguments.stores
            for reason in [STORES[name].missing(probe)]
            if reason
        }
    for name, reason in skipped.items():
        say("%s is skipped: %s" % (name, reason))
    sites = [
        Site(release, name, arguments, directory, stack)
        for name in arguments.stores
        if name not in skipped
    ]
    return release, sites, skipped


def run(arguments):
    """Runs the experiment."""
    fill_defaults(arguments)
    problems = []
    with contextlib.ExitStack() as stack:
        stack.callback(proc.stop_all)
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="zbxbench-zabbix."))
        try:
            release, sites, skipped = make_sites(arguments, directory, stack)
        except debs.Unavailable as reason:
            raise RuntimeError("no Zabbix: %s" % reason) from reason
        progress = Progress(len(arguments.rates) + 1, NAME)
        progress.show("databases, hosts and items")
        keepers = []
        for site in sites:
            site.begin(arguments.filled_hours)
            keepers.append(Maintenance(site.store))
            keepers[-1].start()
        progress.step()
        runs = measure(sites, arguments, problems, progress)
        for keeper in keepers:
            keeper.stop()
        values = compare(sites, problems, not arguments.most)
        progress.finish()
        for site in sites:
            site.zabbix.stop()
        own = Bench(arguments, sites[-1].cluster, [site.store for site in sites], skipped)
        return own.conclude(
            NAME,
            {
                "zabbix": release.full_version,
                "stores": [site.store.name for site in sites],
                "items": arguments.items,
                "feed": arguments.feed,
                "filled_hours": arguments.filled_hours,
                "rates": arguments.rates,
                "seconds": arguments.seconds,
                "most": arguments.most,
                "values": values,
                "runs": runs,
            },
            problems,
            show,
            draw,
        )
