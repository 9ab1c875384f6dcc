"""The write experiment: what it costs each store to take the same values."""

import dataclasses
import math
import random
import shutil

from . import counters, drivers, periods, plots, results, spread
from .experiment import bench
from .progress import Progress
from .stores import STORES

NAME = "write"
HELP = "values per second and per CPU second, CPU and WAL per value, for every store"

DEFAULT_STORES = [
    "plain",
    "native",
    "partman",
    "plpgsql",
    "zbxhist-rows",
    "zbxhist-trigger",
    "zbxhist",
]
REFERENCE = "native"

# values per run, by rows per statement: long enough to measure
VALUES = {1: 40000, 10: 150000, 100: 300000, 1000: 300000}
QUICK_VALUES = {1: 4000, 10: 15000, 100: 50000, 1000: 60000}
# values sent first, which load libraries, fill caches and touch every page
WARMUP = {1: 3000, 10: 15000, 100: 30000, 1000: 30000}
QUICK_WARMUP = {1: 500, 10: 5000, 100: 15000, 1000: 20000}

# passes over the items, in the order of time, that end the filling of a day
TAIL_PASSES = 60

# partitions beside today's: some past days, some made in advance
FIRST_DAY, LAST_DAY = -3, 3


def add_arguments(parser):
    """The experiment's own options."""
    from .cli import numbers

    parser.add_argument(
        "--stores",
        default=",".join(DEFAULT_STORES),
        help="comma-separated (default: %(default)s); also "
        + ", ".join(sorted(set(STORES) - set(DEFAULT_STORES))),
    )
    parser.add_argument("--rows", type=numbers, help="rows a statement (default: 1,10,100,1000)")
    parser.add_argument("--connections", type=numbers, help="(default: 1,2,4; --quick: 1)")
    parser.add_argument("--rounds", type=int, help="(default: 5; --quick: 1)")
    parser.add_argument("--values", type=int, help="values per run (default: depends on the rows)")
    parser.add_argument("--items", type=int, default=30000, help="monitored items (%(default)s)")
    parser.add_argument(
        "--mix",
        choices=("float", "uint", "zabbix"),
        default="float",
        help="value types that the loader sends (default: %(default)s)",
    )
    parser.add_argument(
        "--day-rows",
        type=int,
        default=0,
        metavar="N",
        help="first put N rows into the current day of each store, and keep them",
    )
    parser.add_argument(
        "--spread",
        type=int,
        default=1,
        metavar="SECONDS",
        help="seconds that the clocks of a statement span, as with proxies and slow pollers "
        "(default: one or two)",
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the values and of the order of runs"
    )


def by_rows(table, rows):
    """The entry for this many rows, or for the next smaller number."""
    return table[max((key for key in table if key <= rows), default=min(table))]


def fill_defaults(arguments):
    """Fills in the options that were not given."""
    arguments.rows = arguments.rows or [1, 10, 100, 1000]
    arguments.connections = arguments.connections or ([1] if arguments.quick else [1, 2, 4])
    arguments.rounds = arguments.rounds or (1 if arguments.quick else 5)
    for rows in arguments.rows:
        if arguments.items % rows:
            raise RuntimeError("--items must be a multiple of --rows")


def cells(arguments):
    """The loads of a round."""
    values = QUICK_VALUES if arguments.quick else VALUES
    warmup = QUICK_WARMUP if arguments.quick else WARMUP
    return [
        drivers.Load(
            rows=rows,
            connections=connections,
            items=arguments.items,
            mix=arguments.mix,
            spread=arguments.spread,
            values=arguments.values or by_rows(values, rows),
            warmup=arguments.items if arguments.day_rows else by_rows(warmup, rows),
            # the first hour of a day, which must not reach into the day before
            clock=periods.clock(periods.today()) + periods.HOUR * (arguments.spread > 1),
        )
        for rows in arguments.rows
        for connections in arguments.connections
    ]


class Schedule:
    """The part of the stream that each run sends.

    Usually each run begins with empty tables.  With --day-rows the rows stay, and the runs
    follow each other in simulated time within the day.
    """

    def __init__(self, arguments, loads):
        self.arguments = arguments
        self.day_passes = math.ceil(arguments.day_rows / arguments.items)
        self.next_pass = self.day_passes
        self.step = 60
        if arguments.day_rows:
            runs = arguments.rounds * sum(self._passes(load) for load in loads)
            self.step = periods.DAY // (self.day_passes + runs)
            if self.step < 1:
                raise RuntimeError(
                    "more values an item than seconds in a day: "
                    "raise --items or lower --day-rows"
                )

    def _passes(self, load):
        """The passes over the items that a run takes, warm-up included."""
        return math.ceil(load.warmup / load.items) + math.ceil(load.values / load.items)

    def place(self, load, round_number):
        """The load with its place in the stream."""
        seed = self.arguments.seed
        if not self.arguments.day_rows:
            return dataclasses.replace(load, seed=seed + round_number, step=self.step)
        placed = dataclasses.replace(load, seed=seed, step=self.step, first_pass=self.next_pass)
        self.next_pass += self._passes(load)
        return placed


class Verification:
    """Every store must hold the same rows, and must not have refused any.

    is_postgres: all stores are in PostgreSQL, which then compares rows itself.
    """

    def __init__(self, is_postgres, mix):
        self.is_postgres = is_postgres
        self.mix = mix
        self.problems = []
        self.checksums = {}

    def run(self, store, measurement, where):
        """Checks the figures of the driver."""
        if measurement["failed"] or measurement["lost"] or measurement["duplicates"]:
            self.problems.append(
                "%s, %s: failed statements %s, values lost %d, duplicates %d"
                % (
                    store.name,
                    where,
                    measurement["failed"],
                    measurement["lost"],
                    measurement["duplicates"],
                )
            )

    def content(self, store, where, expected):
        """Row count and checksum must equal those of the other stores."""
        rows = sum(store.rows(table) for table in store.tables)
        if rows != expected:
            self.problems.append(
                "%s, %s: %d rows instead of %d" % (store.name, where, rows, expected)
            )
        self._compare(store, where)
        self.problems.extend("%s, %s" % (problem, where) for problem in store.check())
        return rows

    def _compare(self, store, where):
        if self.is_postgres:
            sums = [store.checksum(table) for table in store.tables]
        else:
            sums = drivers.read_back(store, self.mix)
        name, reference = self.checksums.setdefault(where, (store.name, sums))
        if sums != reference:
            self.problems.append("%s, %s: other rows than %s" % (store.name, where, name))


def where_text(load, round_number):
    """The name of a run in messages."""
    return "%d rows, %d connections, round %d" % (load.cell + (round_number + 1,))


def check_space(stores, arguments):
    """Fails before the disk is full: 90 bytes per row with its index, and the WAL."""
    needed = len(stores) * arguments.day_rows * 90 + 16 * 2**30
    free = shutil.disk_usage(arguments.data_directory).free
    if needed > free:
        raise RuntimeError(
            "--day-rows %d in %d stores needs some %d GB, %d are free"
            % (arguments.day_rows, len(stores), needed // 2**30, free // 2**30)
        )


def day_loads(arguments, schedule):
    """The day's rows in two parts: most of them, and the last passes.

    Sorted by item the load is several times faster, but leaves all pages of
    the primary key equally full, which would then be split all at once.  The
    last passes come in the order of time: they split each item's last page
    and leave those as full or empty as they are on a running server.
    """
    tail = min(TAIL_PASSES, schedule.day_passes // 2)
    first = (schedule.day_passes - tail) * arguments.items
    load = drivers.Load(
        1000,
        1,
        first,
        0,
        periods.clock(periods.today()),
        items=arguments.items,
        step=schedule.step,
        seed=arguments.seed,
    )
    return load, dataclasses.replace(
        load, values=arguments.day_rows - first, first_pass=schedule.day_passes - tail
    )


def fill_day(stores, arguments, schedule):
    """Stores the same rows in the current day of each store."""
    check_space(stores, arguments)
    bulk, tail = day_loads(arguments, schedule)
    progress = Progress(len(stores), "fill")
    for store in stores:
        progress.show(store.name)
        table = store.partition("history", periods.day(periods.today()))
        drivers.copy_stream(store, table, bulk)
        drivers.copy_stream(store, table, tail, by_pass=True)
        store.settle()
        store.cluster.checkpoint()
        progress.step()
    progress.finish()


def measure(store, load, wal, arguments):
    """Makes one run, from a state that is the same for every store."""
    if arguments.day_rows:
        store.prewarm("history", periods.day(periods.today()))
    else:
        store.clean()
    store.before_run()
    counter = store.wal_counter(wal)
    images = counter.full_page_images() if counter else 0
    measurement = drivers.run_loader(store, load, wal)
    store.after_run()
    measurement["full_page_images_with_warmup"] = (
        counter.full_page_images() - images if counter else None
    )
    return measurement


def run_rounds(stores, loads, schedule, arguments, wal, verification):
    """Makes all runs: round after round, with cells and stores shuffled in each."""
    order = random.Random(arguments.seed)
    progress = Progress(arguments.rounds * len(loads) * len(stores), "write")
    runs = []
    for round_number in range(arguments.rounds):
        for load in order.sample(loads, len(loads)):
            load = schedule.place(load, round_number)
            where = where_text(load, round_number)
            for store in order.sample(stores, len(stores)):
                progress.show("%s, %s" % (store.name, where))
                measurement = measure(store, load, wal, arguments)
                verification.run(store, measurement, where)
                if not arguments.day_rows:
                    verification.content(store, where, drivers.loader_rows(load))
                runs.append(
                    dict(
                        measurement,
                        store=store.name,
                        round=round_number,
                        rows=load.rows,
                        connections=load.connections,
                    )
                )
                progress.step()
    progress.finish()
    return runs


def verify_day(stores, runs, arguments, verification):
    """With --day-rows contents are compared once, at the end, because it takes long."""
    for store in stores:
        sent = sum(run["values"] + arguments.items for run in runs if run["store"] == store.name)
        verification.content(store, "the whole day", arguments.day_rows + sent)


METRICS = (
    "values_per_second",
    "values_per_cpu_second",
    "cpu_us_per_value",
    "server_cpu_us_per_value",
    "wal_bytes_per_value",
    "wal_image_bytes_per_value",
)


def of_cell(runs, cell, store):
    """The runs of a store in a cell, by round."""
    return sorted(
        (
            run
            for run in runs
            if run["store"] == store and (run["rows"], run["connections"]) == cell
        ),
        key=lambda run: run["round"],
    )


def summarize_store(runs, reference):
    """Medians and spreads of a store in a cell, and its ratios to the reference."""
    summary = {
        "latency_ms": {
            key: spread.spread([run["latency_ms"][key] for run in runs])
            for key in ("p50", "p95", "p99", "max")
        }
    }
    for metric in METRICS:
        own = [run[metric] for run in runs]
        summary[metric] = spread.spread(own)
        summary[metric + "_ratio"] = spread.ratios(own, [run[metric] for run in reference])
    return summary


def summarize(runs, loads, names):
    """One entry per cell, in the order of the command line."""
    return [
        {
            "rows": load.rows,
            "connections": load.connections,
            "stores": {
                name: summarize_store(
                    of_cell(runs, load.cell, name), of_cell(runs, load.cell, REFERENCE)
                )
                for name in names
                if of_cell(runs, load.cell, name)
            },
        }
        for load in loads
    ]


HEADER = [
    "store",
    "values/s",
    "values per CPU s",
    "to native",
    "CPU us/value",
    "server us/value",
    "WAL B/value",
    "to native",
    "of it images",
    "p50 ms",
    "p99 ms",
]


def cell_row(label, summary):
    """A store's line in the table of a cell."""

    def median(metric, digits=0):
        return results.number(summary[metric] and summary[metric]["median"], digits)

    return [
        label,
        median("values_per_second"),
        median("values_per_cpu_second"),
        results.ratio_text(summary["values_per_cpu_second_ratio"]),
        median("cpu_us_per_value", 2),
        median("server_cpu_us_per_value", 2),
        median("wal_bytes_per_value"),
        results.ratio_text(summary["wal_bytes_per_value_ratio"]),
        median("wal_image_bytes_per_value"),
        results.number(summary["latency_ms"]["p50"]["median"], 2),
        results.number(summary["latency_ms"]["p99"]["median"], 2),
    ]


def connections_text(count):
    """A number of connections in words."""
    return "%d connection%s" % (count, "" if count == 1 else "s")


def show(result):
    """Prints the tables of a result, one per cell."""
    for cell in result["summary"]:
        print("\n%d rows a statement, %s" % (cell["rows"], connections_text(cell["connections"])))
        print(
            results.table(
                HEADER,
                [
                    cell_row(results.judged(STORES[name].label, name, result["problems"]), store)
                    for name, store in cell["stores"].items()
                ],
            )
        )


def main_cell(summary):
    """The cell of the plots by store: most rows per statement, fewest connections."""
    return min(summary, key=lambda cell: (-cell["rows"], cell["connections"]))


def plot_bars(cell, metric, title, unit, stem):
    """Plots a metric of a cell, one bar per store."""
    names = [name for name, store in cell["stores"].items() if store[metric]]
    fig, axes = plots.figure(max(7.0, 1.0 + 0.85 * len(names)))
    plots.bars(
        axes,
        names,
        [STORES[name].label for name in names],
        [cell["stores"][name][metric] for name in names],
    )
    axes.set_ylabel(unit)
    axes.set_title(
        "%s\n(%d rows a statement, %s)"
        % (title, cell["rows"], connections_text(cell["connections"])),
        fontsize=10,
    )
    plots.save(fig, stem)


def plot_lines(summary, x_key, fixed, title, x_label, stem):
    """Plots throughput against rows or connections, one line per store."""
    chosen = [cell for cell in summary if all(cell[key] == value for key, value in fixed.items())]
    if len(chosen) < 2:
        return
    fig, axes = plots.figure()
    for name in chosen[0]["stores"]:
        medians = [cell["stores"][name]["values_per_second"]["median"] for cell in chosen]
        axes.plot(
            [cell[x_key] for cell in chosen],
            medians,
            marker="o",
            markersize=4,
            color=plots.colour(name),
            label=STORES[name].label,
        )
    axes.set_xscale("log")
    axes.set_xticks([cell[x_key] for cell in chosen])
    axes.set_xticklabels([str(cell[x_key]) for cell in chosen])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel(x_label)
    axes.set_ylabel("values stored per second")
    axes.set_title(title, fontsize=10)
    plots.legend_beside(axes)
    plots.save(fig, stem)


def draw(result, stem):
    """All plots of the experiment."""
    summary = result["summary"]
    cell = main_cell(summary)
    plot_bars(
        cell,
        "values_per_cpu_second",
        "Values stored per CPU second of the backends",
        "values per CPU second",
        stem + "-cpu",
    )
    plot_bars(
        cell,
        "wal_bytes_per_value",
        "WAL per value",
        "bytes of WAL per value",
        stem + "-wal",
    )
    plot_lines(
        summary,
        "rows",
        {"connections": cell["connections"]},
        "Throughput by rows a statement (%s)" % connections_text(cell["connections"]),
        "rows a statement",
        stem + "-rows",
    )
    plot_lines(
        summary,
        "connections",
        {"rows": cell["rows"]},
        "Throughput by connections (%d rows a statement)" % cell["rows"],
        "connections",
        stem + "-connections",
    )


def result_name(arguments):
    """The base name of the files by default."""
    name = NAME + ("-day%d" % arguments.day_rows if arguments.day_rows else "")
    name += "-spread%d" % arguments.spread if arguments.spread > 1 else ""
    return name + ("-" + arguments.mix if arguments.mix != "float" else "")


def create_stores(stores, arguments):
    """Empties all stores."""
    for store in stores:
        if arguments.day_rows and not store.is_postgres:
            raise RuntimeError("--day-rows fills PostgreSQL's stores only, not " + store.name)
        store.create(drivers.tables(arguments.mix), periods.days(FIRST_DAY, LAST_DAY))


def run(arguments):
    """Runs the experiment."""
    fill_defaults(arguments)
    with bench(arguments, arguments.stores.split(",")) as own:
        create_stores(own.stores, arguments)
        loads = cells(arguments)
        schedule = Schedule(arguments, loads)
        verification = Verification(all(store.is_postgres for store in own.stores), arguments.mix)
        wal = counters.Wal(own.cluster)
        if arguments.day_rows:
            fill_day(own.stores, arguments, schedule)
        runs = run_rounds(own.stores, loads, schedule, arguments, wal, verification)
        if arguments.day_rows:
            verify_day(own.stores, runs, arguments, verification)
        wal.close()
        summary = summarize(runs, loads, [store.name for store in own.stores])
        return own.conclude(
            NAME,
            {
                "name": result_name(arguments),
                "items": arguments.items,
                "mix": arguments.mix,
                "spread": arguments.spread,
                "day_rows": arguments.day_rows,
                "rounds": arguments.rounds,
                "summary": summary,
                "runs": runs,
            },
            verification.problems,
            show,
            draw,
        )
