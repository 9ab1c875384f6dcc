"""The size experiment: bytes on disk per value, everything counted."""

import time

from . import datasets, plots, results
from .contents import Contents
from .experiment import bench, names_of
from .progress import Progress
from .stores import STORES

NAME = "size"
HELP = "bytes on disk per value, with tables, indexes and maps, for real and generated data"

DEFAULT_STORES = ["plain", "timescaledb", "zbxhist", "zbxhist-packed", "mariadb"]
PEER_DAYS = 5


def add_arguments(parser):
    """The experiment's own options."""
    names = ",".join(dataset.name for dataset in datasets.DATASETS)
    parser.add_argument(
        "--stores",
        help="comma-separated (default: %s); also native, partman, "
        "whose partitions are as large as zbxhist's" % ",".join(DEFAULT_STORES),
    )
    parser.add_argument("--datasets", default=names, help="(default: %(default)s)")
    parser.add_argument("--items", type=int, help="(default: 1000; --quick: 100)")
    parser.add_argument(
        "--days", type=int, help="most days (default: each data set's own; --quick: 3)"
    )


def fill_defaults(arguments):
    """Fills in the options that were not given."""
    arguments.items = arguments.items or (100 if arguments.quick else 1000)
    arguments.days = arguments.days or (3 if arguments.quick else None)
    arguments.stores = names_of(arguments, DEFAULT_STORES)
    arguments.datasets = datasets.chosen(arguments.datasets)


def measure(store, dataset, contents, arguments):
    """Fills, closes and measures one store with one data set.

    Databases other than PostgreSQL are slow to fill, so they get only the first days; at that point
    the rows of all stores are compared.
    """
    days = datasets.days_of(dataset, arguments.days)
    few = days[:PEER_DAYS]
    store.create((dataset.table,), days)
    started = time.monotonic()
    sent = datasets.fill(store, dataset, arguments.items, few, days[0])
    early = contents.of(store, dataset.table)
    if store.is_postgres and days[PEER_DAYS:]:
        sent += datasets.fill(store, dataset, arguments.items, days[PEER_DAYS:], days[0])
    loaded = time.monotonic()
    for day in days:
        store.close_period(dataset.table, day)
    closed = time.monotonic()
    store.settle()
    size = store.disk_bytes()
    return {
        "store": store.name,
        "dataset": dataset.name,
        "items": arguments.items,
        "sent": sent,
        "early": early,
        "late": late_contents(store, dataset.table),
        "bytes": size,
        "bytes_per_value": size / sent,
        "load_seconds": loaded - started,
        "close_seconds": closed - loaded,
    }


def late_contents(store, table):
    """Row count and checksum when the store is measured; the checksum is the database
    system's."""
    return store.rows(table), str(store.checksum(table))


def compare(runs, problems):
    """All stores must hold all rows."""
    reference = {}
    for run in runs:
        where = "%s, %s" % (run["store"], run["dataset"])
        if run["late"][0] != run["sent"]:
            problems.append("%s: %d rows instead of %d" % (where, run["late"][0], run["sent"]))
        for key in ("early", "late"):
            store = STORES[run["store"]]
            if key == "late" and not (store.is_postgres and store.is_exact):
                continue
            first = reference.setdefault((run["dataset"], key), run)
            if run[key] != first[key]:
                problems.append("%s: other rows than %s" % (where, first["store"]))


def run_all(stores, arguments, problems):
    """Measures all data sets in all stores, one at a time on the disk."""
    runs = []
    contents = Contents(stores)
    progress = Progress(len(stores) * len(arguments.datasets), NAME)
    for dataset in arguments.datasets:
        for store in stores:
            progress.show("%s, %s" % (store.name, dataset.name))
            runs.append(measure(store, dataset, contents, arguments))
            problems.extend(store.check())
            store.drop()
            progress.step()
    progress.finish()
    compare(runs, problems)
    return runs


def summarize(runs):
    """Bytes per value by data set and store."""
    summary = {}
    for run in runs:
        entry = summary.setdefault(run["dataset"], {"values": 0, "stores": {}})
        entry["values"] = max(entry["values"], run["sent"])
        entry["stores"][run["store"]] = run["bytes_per_value"]
    return summary


def stores_in(summary):
    """Names of the measured stores, in the order of the command line."""
    return list(dict.fromkeys(name for entry in summary.values() for name in entry["stores"]))


def show(result):
    """Prints the table of a result."""
    summary = result["summary"]
    names = stores_in(summary)
    labels = {dataset.name: dataset.label for dataset in datasets.DATASETS}
    rows = [
        [labels[name], results.number(entry["values"])]
        + [results.number(entry["stores"].get(store), 2) for store in names]
        for name, entry in summary.items()
    ]
    print(
        "\nBytes a value takes on disk (stores outside PostgreSQL: of %d days at most)" % PEER_DAYS
    )
    print(
        results.table(
            ["data", "values"]
            + [results.judged(STORES[name].label, name, result["problems"]) for name in names],
            rows,
        )
    )


def draw(result, stem):
    """Plots bars, one group per data set."""
    summary = result["summary"]
    names = stores_in(summary)
    labels = {dataset.name: plots.wrapped(dataset.label) for dataset in datasets.DATASETS}
    fig, axes = plots.figure(10.0, 3.8)
    width = 0.8 / len(names)
    for place, name in enumerate(names):
        bars = [
            (x + (place - (len(names) - 1) / 2) * width, entry["stores"][name])
            for x, entry in enumerate(summary.values())
            if name in entry["stores"]
        ]
        axes.bar(
            [x for x, _ in bars],
            [value for _, value in bars],
            width,
            color=plots.colour(name),
            label=STORES[name].label,
        )
        for x, value in bars:
            axes.annotate(
                "%.3g" % value,
                (x, value),
                ha="center",
                va="bottom",
                fontsize=6,
                xytext=(0, 1),
                textcoords="offset points",
            )
    axes.set_xticks(range(len(summary)))
    axes.set_xticklabels([labels[name] for name in summary], fontsize=8)
    plots.logarithmic_y(axes)
    axes.set_ylim(bottom=1)
    axes.set_ylabel("bytes a value (logarithmic)")
    axes.set_title("Size on disk: tables, indexes, maps, everything counted", fontsize=10)
    plots.legend_beside(axes)
    plots.save(fig, stem)


def run(arguments):
    """Runs the experiment."""
    fill_defaults(arguments)
    with bench(arguments, arguments.stores) as own:
        problems = []
        runs = run_all(own.stores, arguments, problems)
        summary = summarize(runs)
        return own.conclude(
            NAME,
            {
                "items": arguments.items,
                "summary": summary,
                "runs": runs,
            },
            problems,
            show,
            draw,
        )
