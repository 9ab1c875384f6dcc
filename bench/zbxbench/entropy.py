"""The entropy experiment: what zstd or an entropy coder would make of packed groups.

Days of each data set of the size experiment are packed; their groups are
copied into files, and bench/entropy, which has the product's own codecs, takes
them apart.  The first day only trains the dictionary.
"""

import json
import pathlib
import subprocess
import tempfile

from . import datasets, environment, results
from .cluster import SUPERUSER
from .experiment import bench
from .progress import Progress
from .stores import schema

NAME = "entropy"
HELP = "what compressing packed groups would gain, and cost when they are read"

STORE = "zbxhist-packed"
# of bench/entropy: the parts of a group; columns follow
PARTS = ("directory", "segments' heads", "shared clock", "shared ns")
METHODS = ("huffman", "1", "3", "9", "19", "1, dictionary", "3, dictionary", "19, dictionary")
PLAIN_METHODS = METHODS[:5]


def add_arguments(parser):
    """The experiment's own options."""
    names = ",".join(dataset.name for dataset in datasets.DATASETS)
    parser.add_argument("--datasets", default=names, help="(default: %(default)s)")
    parser.add_argument("--items", type=int, help="(default: 1000; --quick: 50)")
    parser.add_argument("--days", type=int, default=2, help="that are measured (default: 2)")


def copy_groups(store, directory):
    """A file of the groups of each packed day, the first day's first."""
    days = store.execute(
        "SELECT format('%I.%I', n.nspname, c.relname) FROM zbxhist.packed_day d"
        " JOIN pg_class c ON c.oid = d.day JOIN pg_namespace n ON n.oid = c.relnamespace"
        " ORDER BY d.from_clock"
    )
    paths = []
    for place, (day,) in enumerate(days):
        paths.append(str(pathlib.Path(directory) / ("day%d" % place)))
        connection = store.connect(SUPERUSER)
        try:
            with connection.cursor() as cursor, open(paths[-1], "wb") as file:
                cursor.copy_expert(
                    "COPY (SELECT payload FROM %s ORDER BY first_itemid, first_clock)"
                    " TO STDOUT (FORMAT binary)" % day,
                    file,
                )
        finally:
            connection.close()
    return paths


def analyze(paths):
    """What bench/entropy says of the groups in files."""
    program = str(environment.BENCH / "entropy" / "entropy")
    done = subprocess.run([program] + paths, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError("bench/entropy failed: %s" % done.stderr)
    return json.loads(done.stdout)


def name_parts(found, table):
    """Parts by their names, columns by those of the table."""
    columns = [name for name in schema.column_names(table).split(", ") if name != "itemid"]
    names = PARTS + tuple(columns)
    found["parts"] = {names[int(part)]: figures for part, figures in found["parts"].items()}
    return found


def measure(store, dataset, arguments):
    """Packs some days of a data set, one more than are measured."""
    days = datasets.days_of(dataset._replace(days=arguments.days + 1))
    store.create((dataset.table,), days)
    datasets.fill(store, dataset, arguments.items, days, days[0])
    for day in days:
        store.close_period(dataset.table, day)
    with tempfile.TemporaryDirectory(prefix="zbxbench-") as directory:
        found = analyze(copy_groups(store, directory))
    store.drop()
    return dict(name_parts(found, dataset.table), dataset=dataset.name)


def percent(bytes_left, bytes_now):
    """How many bytes are saved."""
    return "%.1f %%" % (100 - 100 * bytes_left / bytes_now) if bytes_now else "-"


def labels():
    """Names of data sets for people."""
    return {dataset.name: dataset.label for dataset in datasets.DATASETS}


def show_bytes(runs):
    """What each way to compress groups saves."""
    print("\nBytes of groups saved, each compressed by itself; four at a time")
    print(
        results.table(
            ["data", "bytes a value"]
            + ["zstd " + name if name[0].isdigit() else name for name in METHODS]
            + ["four, zstd 3", "four, zstd 19"],
            [
                [labels()[run["dataset"]], results.number(run["bytes"] / run["rows"], 2)]
                + [
                    percent(run["groups_compressed"][name]["bytes"], run["bytes"])
                    for name in METHODS
                ]
                + [percent(run["batches_compressed"][name], run["bytes"]) for name in ("3", "19")]
                for run in runs
            ],
        )
    )


def show_times(runs):
    """What reading costs."""
    print("\nNanoseconds of CPU a value to decode, of whole groups and of one segment of each")
    rows = []
    for run in runs:
        for what, key in (("groups", "ns_value"), ("a segment", "ns_value_segment")):
            rows.append(
                ["%s, %s" % (labels()[run["dataset"]], what), results.number(run[key], 1)]
                + [results.number(run["groups_compressed"][name][key], 1) for name in METHODS]
            )
    print(results.table(["data", "as it is"] + list(METHODS), rows))


def show_parts(runs):
    """Where the bytes are, and what they would be."""
    print("\nBytes a value of each part, as it is and compressed by itself, a group at a time")
    rows = []
    for run in runs:
        for part, found in run["parts"].items():
            rows.append(
                ["%s, %s" % (labels()[run["dataset"]], part)]
                + [
                    results.number(found[key] / run["rows"] if key in found else None, 3)
                    for key in ("bytes", "order0", "numbers") + PLAIN_METHODS
                ]
            )
    print(
        results.table(
            ["data, part", "as it is", "entropy of bytes", "of numbers' widths"]
            + list(PLAIN_METHODS),
            rows,
        )
    )


def show(result):
    """The tables of a result."""
    show_bytes(result["runs"])
    show_times(result["runs"])
    show_parts(result["runs"])


def run(arguments):
    """The experiment."""
    arguments.items = arguments.items or (50 if arguments.quick else 1000)
    arguments.datasets = datasets.chosen(arguments.datasets)
    environment.build(environment.BENCH / "entropy", "PG_CONFIG=" + arguments.pg_config, "entropy")
    with bench(arguments, [STORE]) as own:
        if not own.stores:
            raise RuntimeError("nothing to measure: %s" % own.skipped)
        progress = Progress(len(arguments.datasets), NAME)
        runs = []
        for dataset in arguments.datasets:
            progress.show(dataset.name)
            runs.append(measure(own.stores[0], dataset, arguments))
            progress.step()
        progress.finish()
        return own.conclude(
            NAME,
            {"items": arguments.items, "days": arguments.days, "runs": runs},
            [],
            show,
            lambda result, stem: None,
        )
