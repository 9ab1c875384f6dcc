"""The pgbench experiment: what to expect of the scripts that users can run themselves.

bench/pgbench holds Zabbix's INSERTs and its main SELECTs.  Here each of them
is run against each store, filled with a week of values and a month of trends.
"""

import os
import random
import re
import subprocess
import tempfile
from typing import NamedTuple

from . import datasets, drivers, environment, histogram, periods, plots, results, spread
from .experiment import bench
from .progress import Progress
from .stores import STORES

NAME = "pgbench"
HELP = "Zabbix's INSERTs and main SELECTs as pgbench scripts, and what they reach"

DEFAULT_STORES = ["plain", "native", "partman", "zbxhist", "zbxhist-packed"]
DATASET = datasets.DATASETS[0]
FIRST_ITEMID = 100000
DAYS = 7  # of history before today
TRENDS_DAYS = 31
REFERENCE = "plain"
README_BEGIN, README_END = "<!-- pgbench begin -->", "<!-- pgbench end -->"


class Script(NamedTuple):
    """A file of bench/pgbench; rows: which one INSERT writes, 0 for a SELECT."""

    name: str
    label: str
    rows: int = 0


SCRIPTS = (
    Script("write_1", "INSERT of 1 row", 1),
    Script("write_10", "INSERT of 10 rows", 10),
    Script("write_100", "INSERT of 100 rows", 100),
    Script("write_1000", "INSERT of 1000 rows", 1000),
    Script("read_range", "value cache: an hour of an item"),
    Script("read_last", "value cache: the 10 newest"),
    Script("read_latest", "latest data: the last two"),
    Script("read_graph", "graph: a week of an item"),
    Script("read_widget", "graph widget: a day of 5 items"),
    Script("read_trends", "graph: a month of trends"),
)


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument(
        "--stores", default=",".join(DEFAULT_STORES), help="comma-separated (default: %(default)s)"
    )
    parser.add_argument("--items", type=int, help="(default: 1000; --quick: 100)")
    parser.add_argument("--seconds", type=int, help="of each run (default: 3; --quick: 1)")
    parser.add_argument("--rounds", type=int, help="(default: 3; --quick: 1)")
    parser.add_argument("--connections", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument(
        "--readme",
        action="store_true",
        help="put the tables into bench/README.md, between its marks",
    )


def fill_defaults(arguments):
    """What was not given, by form."""
    quick = arguments.quick
    arguments.items = arguments.items or (100 if quick else 1000)
    arguments.seconds = arguments.seconds or (1 if quick else 3)
    arguments.rounds = arguments.rounds or (1 if quick else 3)
    arguments.stores = arguments.stores.split(",")


def fill(store, arguments):
    """A week of history with today's, a month of trends."""
    days = periods.days(-DAYS, 0)
    store.create(("history",), periods.days(-DAYS, 3))
    datasets.fill(store, DATASET, arguments.items, days, days[0])
    for day in days[:-1]:
        store.close_period("history", day)
    store.create_table("trends", periods.months(-2, 1), "monthly")
    store.tables += ("trends",)
    stop = days[-1].stop
    store.execute(
        "INSERT INTO trends SELECT itemid, clock, 12, 0, itemid %% 100, 100 FROM "
        "generate_series(%d, %d) itemid, generate_series(%d, %d, 3600) clock"
        % (
            FIRST_ITEMID,
            FIRST_ITEMID + arguments.items - 1,
            stop - TRENDS_DAYS * periods.DAY,
            stop - 3600,
        )
    )
    store.settle()


class Account:
    """What each store must hold: the same at the start, and each INSERT's rows more."""

    def __init__(self):
        self.problems = []
        self.reference = None
        self.expected = {}

    def start(self, store):
        """After the filling."""
        found = [(store.rows(table), str(store.checksum(table))) for table in store.tables]
        self.reference = self.reference or (store.name, found)
        if found != self.reference[1]:
            self.problems.append("%s: other rows than %s" % (store.name, self.reference[0]))
        self.expected[store.name] = found[0][0]

    def wrote(self, store, run):
        """After a run of INSERTs."""
        self.expected[store.name] += run["transactions"] * run["rows"]

    def end(self, store):
        """After all runs."""
        rows = store.rows("history")
        if rows != self.expected[store.name]:
            self.problems.append(
                "%s: %d rows instead of %d" % (store.name, rows, self.expected[store.name])
            )
        self.problems.extend(store.check())


def command(store, script, arguments, place, prefix):
    """pgbench's command line; each run of INSERTs has hours of its own."""
    day = periods.days(1, 1)[0]
    now = periods.days(0, 0)[0].stop - 1
    variables = (
        ["tick=0", "start=%d" % (day.start + place * 600)]
        if script.rows
        else ["first=%d" % FIRST_ITEMID, "items=%d" % (arguments.items - 4), "now=%d" % now]
    )
    words = [
        str(store.cluster.bindir / "pgbench"),
        "-n",
        "-M",
        "simple",
        "-f",
        str(environment.BENCH / "pgbench" / (script.name + ".sql")),
        "-c",
        str(arguments.connections),
        "-j",
        str(arguments.connections),
        "-T",
        str(arguments.seconds),
        "--random-seed=%d" % (place + 1),
        "-l",
        "--log-prefix=" + prefix,
    ]
    for variable in variables:
        words += ["-D", variable]
    return words + [store.dsn()]


def run_script(store, script, arguments, place):
    """One run of one script."""
    store.before_run()
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run(
            command(store, script, arguments, place, os.path.join(directory, "log")),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0 or "aborted" in done.stderr:
            raise drivers.Failed("pgbench: " + done.stderr[-2000:])
        latencies = histogram.Histogram(drivers.pgbench_latencies(directory))
    rate = float(re.search(r"tps = ([0-9.]+)", done.stdout).group(1))
    count = int(re.search(r"transactions actually processed: (\d+)", done.stdout).group(1))
    failed = re.search(r"number of failed transactions: (\d+)", done.stdout)
    return {
        "store": store.name,
        "script": script.name,
        "rows": script.rows,
        "rate": rate,
        "transactions": count,
        "failed": int(failed.group(1)) if failed else 0,
        "latency_ms": latencies.summary(),
    }


def run_rounds(stores, arguments, account):
    """All scripts in all stores, shuffled within each round."""
    order = random.Random(1)
    progress = Progress(arguments.rounds * len(SCRIPTS) * len(stores), NAME)
    runs = []
    for round_number in range(arguments.rounds):
        for place, script in enumerate(SCRIPTS):
            for store in order.sample(stores, len(stores)):
                progress.show("%s, %s" % (store.name, script.name))
                run = run_script(store, script, arguments, round_number * len(SCRIPTS) + place)
                account.wrote(store, run)
                if run["failed"]:
                    account.problems.append(
                        "%s, %s: %d transactions failed" % (store.name, script.name, run["failed"])
                    )
                runs.append(dict(run, round=round_number))
                progress.step()
    progress.finish()
    return runs


def summarize(runs):
    """Medians and spreads, by script and store."""
    summary = {}
    for run in runs:
        summary.setdefault(run["script"], {}).setdefault(run["store"], []).append(run)
    return {
        script: {
            store: {
                "rate": spread.spread([run["rate"] for run in of_store]),
                "p50_ms": spread.spread([run["latency_ms"]["p50"] for run in of_store]),
                "p99_ms": spread.spread([run["latency_ms"]["p99"] for run in of_store]),
            }
            for store, of_store in by_store.items()
        }
        for script, by_store in summary.items()
    }


def names_in(summary):
    """The stores measured."""
    return list(dict.fromkeys(name for entry in summary.values() for name in entry))


def tables(result):
    """(title, Markdown table) of the rates and of the latencies."""
    summary = result["summary"]
    names = sorted(names_in(summary), key=list(STORES).index)
    labels = {script.name: script.label for script in SCRIPTS}
    for title, metric, digits in (
        ("Transactions per second, median [least-greatest] of the rounds", "rate", 0),
        ("99th percentile of the latency, milliseconds, likewise", "p99_ms", 2),
    ):
        rows = [
            [script + ".sql", labels[script]]
            + [results.spread_text(entry[name][metric], digits) for name in names]
            for script, entry in summary.items()
        ]
        yield title, results.table(
            ["script", "what"]
            + [results.judged(STORES[name].label, name, result["problems"]) for name in names],
            rows,
        )


def show(result):
    """The tables of a result."""
    for title, table in tables(result):
        print("\n%s\n%s" % (title, table))


def update_readme(result):
    """Puts the tables between the marks of bench/README.md."""
    path = environment.BENCH / "README.md"
    head, rest = path.read_text(encoding="utf-8").split(README_BEGIN)
    tail = rest.split(README_END)[1]
    machine = result["machine"]
    lines = [
        "`%s`, revision %s, PostgreSQL %s, %s, %d cores, load average %s at the end."
        % (
            result["command"],
            result["git_revision"],
            result["versions"]["postgresql"].split()[0],
            machine["cpu"],
            machine["cores"],
            machine["load_average"][2],
        )
    ]
    for title, table in tables(result):
        lines += ["", title + ":", "", table]
    path.write_text(
        "%s%s\n%s\n%s%s" % (head, README_BEGIN, "\n".join(lines), README_END, tail),
        encoding="utf-8",
    )


def draw(result, stem):
    """Rates to the plain table's, a group a script."""
    summary = result["summary"]
    names = sorted(names_in(summary), key=list(STORES).index)
    reference = REFERENCE if REFERENCE in names else names[0]
    fig, axes = plots.figure(9.5, 3.8)
    width = 0.8 / len(names)
    for place, name in enumerate(names):
        ratios = [
            entry[name]["rate"]["median"] / entry[reference]["rate"]["median"]
            for entry in summary.values()
        ]
        axes.bar(
            [x + (place - (len(names) - 1) / 2) * width for x in range(len(ratios))],
            ratios,
            width,
            color=plots.colour(name),
            label=STORES[name].label,
        )
    labels = {script.name: script.label for script in SCRIPTS}
    axes.set_xticks(range(len(summary)))
    axes.set_xticklabels(
        [labels[name].replace(": ", ":\n").replace(" of ", "\nof ", 1) for name in summary],
        fontsize=6.5,
    )
    axes.set_ylabel("transactions per second,\n%s = 1" % STORES[reference].label)
    axes.set_title("pgbench scripts", fontsize=10)
    plots.legend_beside(axes)
    plots.save(fig, stem)


def show_and_tell(result):
    """The tables, also in bench/README.md."""
    show(result)
    update_readme(result)


def run(arguments):
    """The experiment."""
    fill_defaults(arguments)
    with bench(arguments, arguments.stores) as own:
        account = Account()
        progress = Progress(len(own.stores), "fill")
        for store in own.stores:
            progress.show(store.name)
            fill(store, arguments)
            account.start(store)
            progress.step()
        progress.finish()
        runs = run_rounds(own.stores, arguments, account)
        for store in own.stores:
            account.end(store)
        return own.conclude(
            NAME,
            {
                "items": arguments.items,
                "seconds": arguments.seconds,
                "rounds": arguments.rounds,
                "connections": arguments.connections,
                "summary": summarize(runs),
                "runs": runs,
            },
            account.problems,
            show_and_tell if arguments.readme else show,
            draw,
        )
