"""The peers experiment: the same values in databases of other kinds.

Each store is filled with a day after another by the fastest way that its
documentation has, is through with merging, packing and writing, is weighed, and
is asked the same questions in rounds; all answers are compared.
"""

import math
import random
import tempfile

from . import peers_data, peers_stores, periods, plots, results, spread
from .experiment import bench
from .peers_base import ABOVE, HOUR, HOURS, ITEMS, NEWEST, TOTAL, WEEK, Question
from .progress import Progress, say

NAME = "peers"
HELP = "ClickHouse, VictoriaMetrics, DuckDB and Parquet with the same values: bytes, CPU, answers"

QUESTIONS = {
    HOUR: "an item's hour",
    WEEK: "an item's week by hour",
    ITEMS: "50 items' week by hour",
    NEWEST: "newest of each item",
    TOTAL: "sum of all",
    ABOVE: "sum of all above a value",
    HOURS: "sums of all by hour",
}
MANY = 50
# of what is shown for one data set only
SHOWN = "float-dependents"


def add_arguments(parser):
    """The experiment's own options."""
    names = ",".join(dataset.name for dataset in peers_data.DATASETS)
    parser.add_argument(
        "--stores",
        help="comma-separated; what is not installed is left out (default: %s)"
        % ",".join(peers_stores.NAMES),
    )
    parser.add_argument(
        "--datasets", help="(default: %s; --quick: %s)" % (names, SHOWN), metavar="NAMES"
    )
    parser.add_argument("--items", type=int, help="of data made up (default: 200; --quick: 20)")
    parser.add_argument("--days", type=int, help="of them (default: 7; --quick: 2)")
    parser.add_argument("--rounds", type=int, help="of questions (default: 7; --quick: 1)")


def fill_defaults(arguments):
    """What was not given, by form."""
    known = {dataset.name: dataset for dataset in peers_data.DATASETS}
    names = arguments.datasets or (SHOWN if arguments.quick else ",".join(known))
    unknown = [name for name in names.split(",") if name not in known]
    if unknown:
        raise RuntimeError("no data set %s" % ", ".join(unknown))
    arguments.datasets = [known[name] for name in names.split(",")]
    arguments.items = arguments.items or (20 if arguments.quick else 200)
    arguments.days = arguments.days or (2 if arguments.quick else peers_data.DAYS)
    arguments.rounds = arguments.rounds or (1 if arguments.quick else 7)


def questions_of(data, number):
    """What is asked in a round, the same of all stores."""
    chooser = random.Random(number)
    hour = chooser.choice(data.hours)
    item = [chooser.choice(data.items)]
    many = sorted(chooser.sample(data.items, min(MANY, len(data.items))))
    return [
        Question(HOUR, item, hour, hour + periods.HOUR),
        Question(WEEK, item, data.start, data.stop),
        Question(ITEMS, many, data.start, data.stop),
        Question(NEWEST, data.items, data.start, data.stop),
        Question(TOTAL, data.items, data.start, data.stop),
        Question(ABOVE, data.items, data.start, data.stop, data.middle),
        Question(HOURS, data.items, data.start, data.stop),
    ]


def numbers(rows, kind, unit):
    """Rows as numbers, in order; times of single values in the unit."""
    found = []
    for row in rows:
        if kind == HOUR:
            found.append((int(row[0]) // unit, float(row[1])))
        else:
            found.append(tuple(float(value) for value in row))
    return sorted(found)


def differ(mine, others):
    """Whether two answers differ in more than the last digits of a sum."""
    return len(mine) != len(others) or any(
        len(row) != len(other)
        or not all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) for a, b in zip(row, other))
        for row, other in zip(mine, others)
    )


def compare(question, answers, where, problems):
    """Notes which of the answers, by store, are not those of the first store."""
    (first, expected), *others = answers
    for store, rows in others:
        unit = max(store.unit, first.unit)
        kind = question.kind
        if differ(numbers(rows, kind, unit), numbers(expected, kind, unit)):
            problems.append(
                "%s: %s, %s: another answer than %s" % (store.NAME, where, kind, first.NAME)
            )


def load(store, data):
    """Fills one store; its CPU and bytes, everything finished."""
    sent = store.sent(data)
    store.create(data)
    before = store.cpu()
    store.load(data, sent)
    return {
        "store": store.NAME,
        "dataset": data.dataset.name,
        "values": data.values,
        "cpu_seconds": store.cpu() - before,
        "bytes": store.disk_bytes(),
        "questions": {kind: {"ms": [], "cpu_ms": []} for kind in QUESTIONS},
    }


def ask(stores, runs, data, number, problems):
    """One round, of which number -1 warms up: each question of all stores, in shuffled order."""
    for question in questions_of(data, number):
        answers = {}
        for place in random.Random(number).sample(range(len(stores)), len(stores)):
            answer = stores[place].ask(question)
            if answer is None:
                continue
            seconds, cpu, answers[place] = answer
            if number >= 0:
                found = runs[place]["questions"][question.kind]
                found["ms"].append(1000 * seconds)
                found["cpu_ms"].append(1000 * cpu)
        # PostgreSQL's own answers are the first
        given = [(stores[place], answers[place]) for place in sorted(answers)]
        compare(question, given, data.dataset.name, problems)


def measure(stores, data, rounds, problems, progress):
    """One data set in all stores."""
    runs = []
    for store in stores:
        progress.show("%s, %s" % (store.NAME, data.dataset.name))
        runs.append(load(store, data))
        progress.step()
    for number in range(-1, rounds):
        progress.show("round %d, %s" % (number + 1, data.dataset.name))
        ask(stores, runs, data, number, problems)
    progress.step()
    for store in stores:
        store.clear()
    return runs


def summarize(run):
    """The figures of one store and data set."""
    return {
        "store": run["store"],
        "dataset": run["dataset"],
        "values": run["values"],
        "bytes_per_value": run["bytes"] / run["values"],
        "values_per_cpu_second": run["values"] / max(run["cpu_seconds"], 0.01),
        "questions": {
            kind: {name: spread.spread(found[name]) for name in found}
            for kind, found in run["questions"].items()
            if found["ms"]
        },
    }


def by_store(result):
    """Figures by store and data set, in the order of the run."""
    found = {}
    for entry in result["summary"]:
        found.setdefault(entry["store"], {})[entry["dataset"]] = entry
    return found


def labels():
    """Names of data sets for people."""
    return {dataset.name: dataset.label for dataset in peers_data.DATASETS}


def show_sizes(result, names, found):
    """Bytes and CPU of filling, all data sets."""
    for title, key, digits in (
        ("Bytes a value on disk", "bytes_per_value", 2),
        (
            "Values a CPU second of the whole server, loaded and finished",
            "values_per_cpu_second",
            0,
        ),
    ):
        print("\n" + title)
        print(
            results.table(
                ["store"] + [labels()[name] for name in result["values"]],
                [
                    [names[store]]
                    + [results.number(entries[name][key], digits) for name in result["values"]]
                    for store, entries in found.items()
                ],
            )
        )


def times_of(asked, kind):
    """CPU and wall milliseconds of a question, if it has been asked."""
    if kind not in asked:
        return "-"
    return "%.2f / %.2f" % tuple(asked[kind][key]["median"] for key in ("cpu_ms", "ms"))


def show_questions(result, names, found):
    """CPU and wall milliseconds, a table a data set."""
    for name, values in result["values"].items():
        print("\nCPU ms / wall ms of a question, %s, %d values" % (labels()[name], values))
        rows = []
        for store, entries in found.items():
            asked = entries[name]["questions"]
            rows.append([names[store]] + [times_of(asked, kind) for kind in QUESTIONS])
        print(results.table(["store"] + list(QUESTIONS.values()), rows))


def show_terms(result, names, found):
    """Figures of one data set beside what the stores give up."""
    name = SHOWN if SHOWN in result["values"] else list(result["values"])[-1]
    print("\n%s, and what is given for it" % labels()[name].capitalize())
    rows = []
    for store, entries in found.items():
        terms, entry = result["terms"][store], entries[name]
        rows.append(
            [names[store], results.number(entry["bytes_per_value"], 2)]
            + [results.number(entry["values_per_cpu_second"])]
            + [results.number(entry["questions"][ITEMS]["cpu_ms"]["median"], 1)]
            + [terms[key] for key in ("duplicates", "changes", "crash", "times")]
        )
    print(
        results.table(
            ["store", "bytes a value", "values/CPU s", QUESTIONS[ITEMS] + ", CPU ms"]
            + ["duplicates", "changes", "an acknowledged INSERT after a crash", "times"],
            rows,
        )
    )


def show(result):
    """The tables of a result."""
    names = {
        store: results.judged(label, store, result["problems"])
        for store, label in result["labels"].items()
    }
    found = by_store(result)
    show_sizes(result, names, found)
    show_questions(result, names, found)
    show_terms(result, names, found)


def draw_bars(axes, groups, found, figure):
    """A group of bars each, a bar a store."""
    width = 0.85 / len(found)
    for place, store in enumerate(found):
        middle = place - (len(found) - 1) / 2
        values = [figure(store, group) for group in groups]
        axes.bar(
            [x + middle * width for x in range(len(groups))],
            values,
            width,
            color=plots.colour(store),
        )
        for x, value in enumerate(values):
            axes.annotate(
                "%.2g" % value if value < 100 else "%.0f" % value,
                (x + middle * width, value),
                ha="center",
                va="bottom",
                fontsize=5,
            )
    axes.set_xticks(range(len(groups)))
    axes.set_xticklabels([plots.wrapped(text, 18) for text in groups.values()], fontsize=8)
    plots.logarithmic_y(axes)


def cpu_of(entry, kind):
    """CPU ms of a question, at least what a bar can show."""
    asked = entry["questions"].get(kind)
    return max(asked["cpu_ms"]["median"], 0.01) if asked else 0.01


def draw(result, stem):
    """Bytes of all data sets above, questions of one of them below."""
    found = by_store(result)
    fig, places = plots.grid(2, 1, 10.0, 3.2)
    above, below = places.flat
    draw_bars(
        above,
        {name: labels()[name] for name in result["values"]},
        found,
        lambda store, name: found[store][name]["bytes_per_value"],
    )
    above.set_ylabel("bytes a value")
    above.set_title("Size on disk, and CPU time of questions (all logarithmic)", fontsize=10)
    name = SHOWN if SHOWN in result["values"] else list(result["values"])[-1]
    draw_bars(
        below,
        QUESTIONS,
        found,
        lambda store, kind: cpu_of(found[store][name], kind),
    )
    below.set_ylabel("CPU ms, %s" % labels()[name])
    for store in found:
        above.bar([0], [0], color=plots.colour(store), label=result["labels"][store])
    plots.legend_beside(above)
    plots.save(fig, stem)


def open_stores(own, names):
    """All that can be measured here; the others are noted with the reason."""
    found = []
    for name in names:
        if name not in peers_stores.NAMES:
            raise RuntimeError("no store %s" % name)
        reason = peers_stores.why_missing(own.cluster, name)
        if reason:
            own.skipped[name] = reason
            say("%s is skipped: %s" % (name, reason))
        else:
            found.append(peers_stores.open_store(own.cluster, name))
    if not found:
        raise RuntimeError("nothing to measure: %s" % own.skipped)
    return found


def run(arguments):
    """The experiment."""
    fill_defaults(arguments)
    names = arguments.stores.split(",") if arguments.stores else peers_stores.NAMES
    with bench(arguments, []) as own:
        stores = open_stores(own, names)
        progress = Progress(len(arguments.datasets) * (len(stores) + 1), NAME)
        runs, problems, values = [], [], {}
        for dataset in arguments.datasets:
            with tempfile.TemporaryDirectory(
                prefix="zbxbench.", dir=arguments.data_directory
            ) as directory:
                progress.show("making %s" % dataset.name)
                data = peers_data.make(dataset, arguments.items, arguments.days, directory)
                values[dataset.name] = data.values
                runs += measure(stores, data, arguments.rounds, problems, progress)
        progress.finish()
        return own.conclude(
            NAME,
            {
                "items": arguments.items,
                "days": arguments.days,
                "rounds": arguments.rounds,
                "labels": {store.NAME: store.LABEL for store in stores},
                "terms": {store.NAME: store.TERMS._asdict() for store in stores},
                "values": values,
                "summary": [summarize(each) for each in runs],
                "runs": runs,
            },
            problems,
            show,
            draw,
        )
