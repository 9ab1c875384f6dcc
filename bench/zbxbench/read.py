"""The read experiment: what each store takes to give values back.

The axes are those of the HistoryGluon paper: 10, 20 ... 100 days of history of
a random item, of installations with 90, 5,610 and 27,690 items.
"""

import functools
import math

from . import (
    plots,
    read_aggregates,
    read_lookups,
    read_newest,
    read_packed,
    read_parts,
    read_questions,
    read_shared,
    results,
    spread,
)
from .experiment import bench, names_of
from .progress import Progress
from .read_data import RECENT, Installation, Size, fill_all, label_of
from .stores import STORES

NAME = "read"
HELP = "rows per second and latency of reading items, by SQL and by functions, warm and cold"

DEFAULT_STORES = ["plain", "native", "zbxhist", "zbxhist-packed"]
REFERENCE = "native"
PARTS = (
    "durations",
    "writes",
    "short",
    "latest",
    "cold",
    "packed",
    "aggregates",
    "shared",
    "newest",
    "lookups",
    "planning",
)
# that have installations of their own
OTHER_PARTS = {"shared", "planning"}

# items, and seconds between two values of one: past days hold 13 to 17 million rows
SIZES = [Size(90, 60), Size(5610, 3600), Size(27690, 14400)]
QUICK_SIZES = [Size(90, 1800), Size(920, 14400)]
# loading is not logged, which reading does not notice
SETTINGS = {"wal_level": "minimal", "max_wal_senders": "0", "checkpoint_timeout": "1d"}
# of the planning part: only the number of days counts
YEAR = Size(20, 3600)


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument("--stores", help="comma-separated (default: %s)" % ",".join(DEFAULT_STORES))
    parser.add_argument(
        "--parts",
        default=",".join(PARTS),
        help="comma-separated (default: %(default)s), or questions, alone",
    )
    parser.add_argument(
        "--sizes",
        metavar="ITEMS:SECONDS,...",
        help="items, and seconds between two values of one "
        "(default: 90:60,5610:3600,27690:14400)",
    )
    parser.add_argument(
        "--packed-size",
        metavar="ITEMS:SECONDS",
        help='read in the part "packed" besides those (default: 1000:300)',
    )
    read_shared.add_arguments(parser)
    parser.add_argument("--days", type=int, help="of history (default: 100; --quick: 30)")
    parser.add_argument(
        "--year",
        type=int,
        metavar="DAYS",
        help="days of the planning part (default: 365; --quick: 40)",
    )
    parser.add_argument("--rounds", type=int, help="(default: 4; --quick: 1)")
    parser.add_argument(
        "--slice",
        type=float,
        metavar="SECONDS",
        help="of each series at each point (default: 0.25; --quick: 0.05)",
    )
    parser.add_argument(
        "--rate",
        type=float,
        default=2000,
        metavar="N",
        help="values a second written meanwhile (default: %(default)s)",
    )


def parse_sizes(text):
    """The sizes of the command line."""
    return [Size(*map(int, part.split(":"))) for part in text.split(",")]


def fill_defaults(arguments):
    """What was not given, by form."""
    quick = arguments.quick
    arguments.sizes = (
        parse_sizes(arguments.sizes) if arguments.sizes else QUICK_SIZES if quick else SIZES
    )
    arguments.parts = arguments.parts.split(",")
    asks = read_questions.PART in arguments.parts
    packed_size = read_packed.QUICK_SIZE if quick and not asks else read_packed.SIZE
    if asks:
        _fill_questions(arguments)
    if arguments.packed_size:
        packed_size = parse_sizes(arguments.packed_size)[0]
    arguments.packed_size = packed_size
    arguments.days = arguments.days or (30 if quick else 100)
    arguments.year = arguments.year or (40 if quick else 365)
    arguments.rounds = arguments.rounds or (1 if quick else 4)
    arguments.slice = arguments.slice or (0.05 if quick else 0.25)
    arguments.stores = names_of(arguments, DEFAULT_STORES)
    arguments.counts = (10, 5) if quick else (100, 25)
    unknown = set() if asks else set(arguments.parts) - set(PARTS)
    if unknown:
        raise RuntimeError("--parts: there is no %s" % ", ".join(sorted(unknown)))


def _fill_questions(arguments):
    """Defaults of the part that is asked alone."""
    if len(arguments.parts) > 1:
        raise RuntimeError("--parts: questions are asked alone")
    quick = arguments.quick
    arguments.stores = arguments.stores or ",".join(read_questions.DEFAULT_STORES)
    arguments.packed_size = arguments.packed_size or ("60:3600" if quick else None)
    arguments.days = arguments.days or (3 if quick else 30)


def duration_questions(arguments):
    """10, 20 ... days."""
    return [read_parts.days_question(days) for days in range(10, arguments.days + 1, 10)]


def cold_questions(arguments):
    """From the shortest to the longest."""
    return [
        read_parts.NEWEST_QUESTION,
        read_parts.HOUR_QUESTION,
        read_parts.days_question(min(30, arguments.days)),
        read_parts.days_question(arguments.days),
    ]


def measure_warm(asker, arguments, progress):
    """The parts that want everything in memory, of one size."""
    questions = duration_questions(arguments)
    rounds = arguments.rounds
    steps = {
        "durations": lambda: read_parts.durations(
            asker,
            questions + [read_parts.aggregate_question(arguments.days)],
            rounds,
            arguments.slice,
        ),
        "short": lambda: read_parts.short(asker, rounds, arguments.counts),
        "latest": lambda: read_parts.latest(asker, min(rounds, 3)),
        "writes": lambda: read_parts.durations_with_writes(
            asker, questions, math.ceil(rounds / 2), arguments.slice, arguments.rate
        ),
    }
    for store in asker.installation.stores:
        store.warm(read_parts.TABLE)
    runs = []
    for part, step in steps.items():
        if part in arguments.parts:
            progress.show("%s, %s" % (part, asker.installation.size.label))
            runs += step()
            progress.step()
    return runs


def compare(asker, arguments, progress):
    """All stores hold and answer the same."""
    progress.show("contents, %s" % asker.installation.size.label)
    read_parts.compare_counts(asker)
    read_parts.compare_contents(asker, arguments.days)
    progress.step()


def measure(cluster, installations, of_packed, arguments, answers):
    """Fills and asks: all parts but planning.  of_packed are for packed days only."""
    fill_all(installations + of_packed)
    warm = [part for part in PARTS[:4] if part in arguments.parts]
    askers, more = (
        [read_parts.Asker(installation, answers) for installation in some]
        for some in (installations, of_packed)
    )
    progress = Progress(len(askers) * len(warm) + len(askers + more) * 4 + 2, "read")
    runs = []
    for asker in askers:
        compare(asker, arguments, progress)
        runs += measure_warm(asker, arguments, progress)
    for asker in more:
        compare(asker, arguments, progress)
    if "cold" in arguments.parts:
        # of the smallest, every page holds rows of every item: that is a read of it all
        progress.show("cold")
        runs += read_parts.cold(
            cluster, askers[1:] or askers, cold_questions(arguments), min(arguments.rounds, 3)
        )
        progress.step()
    if "packed" in arguments.parts and read_packed.are_there(installations[0].stores):
        runs += read_packed.measure(cluster, askers + more, arguments, progress)
    if read_aggregates.PART in arguments.parts and read_packed.are_there(installations[0].stores):
        for asker in askers + more:
            runs += read_aggregates.measure(asker, arguments, progress)
    if read_newest.PART in arguments.parts:
        for asker in askers:
            runs += read_newest.measure(asker, arguments, progress)
    if read_lookups.PART in arguments.parts:
        for asker in askers:
            runs += read_lookups.measure(asker, arguments, progress)
    progress.finish()
    return runs


def measure_year(stores, arguments, answers):
    """Planning, and short reads, with a year of partitions."""
    installation = Installation(YEAR, stores, arguments.year)
    fill_all([installation])
    asker = read_parts.Asker(installation, answers)
    read_parts.compare_contents(asker, arguments.year)
    return read_parts.planning(installation, arguments.rounds * 3) + [
        dict(run, part="year")
        for run in read_parts.short(asker, arguments.rounds, arguments.counts)
    ]


# ---- summaries ----


def matches(run, key):
    """Whether a run is of a cell."""
    return all(run.get(name) == value for name, value in key.items())


def reference_of(part):
    """What the series of a part are compared with."""
    of_plain = read_packed.PARTS + (read_aggregates.PART, read_shared.PART, read_lookups.PART)
    return read_packed.REFERENCE if part in of_plain else REFERENCE


def summarize_runs(runs):
    """Latencies of all rounds together; throughput round by round."""
    latencies = [latency for run in runs for latency in run["latencies"]]
    rounds = sorted(runs, key=lambda run: run["round"])
    return {
        "queries": len(latencies),
        "rows_per_query": sum(run.get("rows", 0) for run in runs) / len(latencies),
        "latency_ms": {
            "p50": spread.percentile(latencies, 0.5) * 1e3,
            "p99": spread.percentile(latencies, 0.99) * 1e3,
        },
        "rows_per_second": [run.get("rows", 0) / sum(run["latencies"]) for run in rounds],
        "rows_per_cpu_second": [
            run["rows"] / run["cpu_seconds"] if run.get("cpu_seconds") else None for run in rounds
        ],
        "queries_per_second": [len(run["latencies"]) / sum(run["latencies"]) for run in rounds],
        "median_ms": [spread.percentile(run["latencies"], 0.5) * 1e3 for run in rounds],
    }


def finish_summary(entry, reference):
    """Spreads instead of rounds, and ratios to the reference of the same round."""
    done = dict(entry)
    for metric in ("rows_per_second", "rows_per_cpu_second", "queries_per_second", "median_ms"):
        done[metric] = spread.spread(entry[metric])
        done[metric + "_ratio"] = (
            spread.ratios(entry[metric], reference[metric]) if reference else None
        )
    return done


CELL_KEYS = ("part", "items", "question", "writes", "connection")


def cell_order(key):
    """Cells in the order of the parts and sizes; questions by their number, then as asked."""
    part, items, question, writes, _ = key
    days = question.split()[0]
    return (part, items or 0, writes or False, int(days) if days.isdigit() else 0)


def summarize(runs, order):
    """A cell for each part, size, question and circumstance: its series in that order."""
    cells = {}
    for run in runs:
        key = tuple(run.get(name) for name in CELL_KEYS)
        cells.setdefault(key, {}).setdefault(run["series"], []).append(run)
    summary = []
    for key in sorted(cells, key=cell_order):
        by_series = cells[key]
        entries = {
            series: summarize_runs(by_series[series]) for series in order if series in by_series
        }
        cell = {name: value for name, value in zip(CELL_KEYS, key) if value is not None}
        cell["series"] = {
            series: finish_summary(entry, entries.get(reference_of(key[0])))
            for series, entry in entries.items()
        }
        summary.append(cell)
    return summary


def find_cells(summary, **key):
    """The cells with these properties."""
    return [cell for cell in summary if matches(cell, key)]


# ---- tables ----


def judged(series, problems):
    """A series' label, by what is wrong with it or with its store."""
    own = results.judged(label_of(series), series, problems)
    store = series.removesuffix("-functions")
    return own if own != label_of(series) else results.judged(own, store, problems)


def print_cells(problems, title, first, cells):
    """A line a cell and series."""
    rows = []
    for cell in cells:
        for series, entry in cell["series"].items():
            rows.append(
                [
                    first(cell),
                    judged(series, problems),
                    results.number(entry["latency_ms"]["p50"], 3),
                    results.number(entry["latency_ms"]["p99"], 3),
                    results.ratio_text(entry["median_ms_ratio"]),
                    results.number(entry["rows_per_second"]["median"]),
                    (
                        results.ratio_text(entry["rows_per_second_ratio"])
                        if entry["rows_per_query"]
                        else "-"
                    ),
                    results.ratio_text(entry["rows_per_cpu_second_ratio"]),
                ]
            )
    if rows:
        to = "to " + reference_of(cells[0]["part"])
        print("\n" + title)
        print(results.table(["", "series", "p50 ms", "p99 ms", to, "rows/s", to, "by CPU"], rows))


def few(cells):
    """Of the durations the shortest, the middle and the longest: plots and JSON have them all."""
    days = sorted(filter(None, map(duration_of, cells)))
    shown = {days[0], days[(len(days) - 1) // 2], days[-1], None} if days else {None}
    return [cell for cell in cells if duration_of(cell) in shown]


def sizes_of(result):
    """The installations of a result."""
    return [Size(size["items"], size["seconds_between_values"]) for size in result["sizes"]]


def show(result):
    """The tables of a result, one a part and size."""
    if result.get("part") == read_questions.PART:
        read_questions.show(result)
        return
    summary, problems = result["summary"], result["problems"]
    for size in sizes_of(result):
        for writes in (False, True):
            print_cells(
                problems,
                "%s, %s" % (size.label, "while values are written" if writes else "warm"),
                lambda cell: cell["question"],
                few(find_cells(summary, part="durations", items=size.items, writes=writes)),
            )
        print_cells(
            problems,
            "%s, short reads" % size.label,
            lambda cell: "%s, %s" % (cell["question"], CONNECTIONS[cell["connection"]]),
            find_cells(summary, part="short", items=size.items),
        )
        print_cells(
            problems,
            "%s, newest value of each of up to %d items" % (size.label, read_parts.LATEST_ITEMS),
            lambda cell: cell["question"],
            find_cells(summary, part="latest", items=size.items),
        )
        print_cells(
            problems,
            "%s, cold" % size.label,
            lambda cell: cell["question"],
            find_cells(summary, part="cold", items=size.items),
        )
        for part, circumstance in zip(read_packed.PARTS, ("warm", "cold")):
            print_cells(
                problems,
                "%s, past days, %s" % (size.label, circumstance),
                lambda cell: cell["question"],
                find_cells(summary, part=part, items=size.items),
            )
        print_cells(
            problems,
            "%s, aggregates of past days" % size.label,
            lambda cell: cell["question"],
            find_cells(summary, part=read_aggregates.PART, items=size.items),
        )
        print_cells(
            problems,
            "%s, newest value of each of up to %d items in one statement"
            % (size.label, read_newest.ITEMS),
            lambda cell: cell["question"],
            find_cells(summary, part=read_newest.PART, items=size.items),
        )
        print_cells(
            problems,
            "%s, look-ups" % size.label,
            lambda cell: cell["question"],
            find_cells(summary, part=read_lookups.PART, items=size.items),
        )
    for items in dict.fromkeys(items for items, _ in read_shared.cells(summary)):
        print_cells(
            problems,
            "{:,} items, two thirds of which share their times, past days, warm".format(items),
            lambda cell: cell["question"],
            find_cells(summary, part=read_shared.PART, items=items),
        )
    print_cells(
        problems,
        "Planning time with a year of days",
        lambda cell: "%s, %s" % (cell["question"], cell["connection"]),
        find_cells(summary, part="planning"),
    )
    print_cells(
        problems,
        "Short reads with a year of days",
        lambda cell: "%s, %s" % (cell["question"], CONNECTIONS[cell["connection"]]),
        find_cells(summary, part="year"),
    )


CONNECTIONS = {
    "kept": "kept connection",
    "connect": "connecting",
    "first": "first of a connection",
    "fresh": "connecting and first",
}


# ---- targets ----


def ratio(summary, metric, series, reference, **key):
    """A metric of one series to that of another, in the first such cell.

    To the reference of the part it is the median of the rounds' ratios.
    """
    for cell in find_cells(summary, **key):
        own, other = (cell["series"].get(name) for name in (series, reference))
        if own and reference == reference_of(cell["part"]) and own[metric + "_ratio"]:
            return own[metric + "_ratio"]["median"]
        if own and other and other[metric]["median"]:
            return own[metric]["median"] / other[metric]["median"]
    return None


def worst(values, choose):
    """The worst of what is known."""
    values = [value for value in values if value is not None]
    return choose(values) if values else None


def function_targets(summary, arguments):
    """Those of the functions, as (sentence, figure, limit, at_least)."""
    smallest, largest = arguments.sizes[0].items, arguments.sizes[-1].items
    hour = dict(part="short", items=smallest, question="hour")
    days = "%d days" % (arguments.days // 10 * 10)
    pair = ("zbxhist-functions", REFERENCE)
    return [
        (
            "range of an hour to native, latency over a kept connection",
            ratio(summary, "median_ms", *pair, **hour, connection="kept"),
            0.5,
            False,
        ),
        (
            "range of an hour to native, latency of a connection's first query",
            ratio(summary, "median_ms", *pair, **hour, connection="first"),
            0.5,
            False,
        ),
        (
            "range of an hour to native, connecting and first query",
            ratio(summary, "median_ms", *pair, **hour, connection="fresh"),
            0.5,
            False,
        ),
        *(
            (
                "range of %s of %d items to native, rows a second" % (days, size.items),
                ratio(
                    summary,
                    "rows_per_second",
                    *pair,
                    part="durations",
                    items=size.items,
                    writes=False,
                    question=days,
                ),
                1.3,
                True,
            )
            for size in arguments.sizes
        ),
        (
            "last_values of %d items to a SELECT an item on zbxhist, speed"
            % read_parts.LATEST_ITEMS,
            ratio(
                summary,
                "queries_per_second",
                "zbxhist-functions",
                "zbxhist",
                part="latest",
                items=largest,
            ),
            10,
            True,
        ),
        (
            "last_values of %d items to a SELECT an item on native, speed"
            % read_parts.LATEST_ITEMS,
            ratio(summary, "queries_per_second", *pair, part="latest", items=largest),
            10,
            True,
        ),
    ]


def packed_targets(summary, arguments):
    """Those of packed days; none without them."""
    items = arguments.sizes[min(1, len(arguments.sizes) - 1)].items
    sizes = list(dict.fromkeys(arguments.sizes + [arguments.packed_size]))
    found = read_packed.targets(functools.partial(ratio, summary), sizes, arguments)
    found += read_aggregates.targets(functools.partial(ratio, summary), sizes)
    found += read_shared.targets(summary)
    found += read_newest.targets(functools.partial(ratio, summary), arguments.sizes, REFERENCE)
    found += read_lookups.targets(functools.partial(ratio, summary), arguments.sizes)
    for question in ("hour", "newest %d" % read_parts.NEWEST):
        found.append(
            (
                "%s with packed days by SQL to native, latency, kept" % question,
                ratio(
                    summary,
                    "median_ms",
                    "zbxhist-packed",
                    REFERENCE,
                    part="short",
                    items=items,
                    question=question,
                    connection="kept",
                ),
                1,
                False,
            )
        )
    for connection in ("kept", "fresh"):
        found.append(
            (
                "planning with a year of packed days to native, %s connection, worst SELECT"
                % connection,
                worst(
                    [
                        ratio([cell], "median_ms", "zbxhist-packed", REFERENCE)
                        for cell in find_cells(summary, part="planning", connection=connection)
                    ],
                    max,
                ),
                1,
                False,
            )
        )
    return found


def targets(summary, arguments):
    """The project's own targets, as far as they were measured."""
    return [
        {
            "target": "%s, %s %g" % (text, "at least" if at_least else "at most", limit),
            "value": value,
            "met": value >= limit if at_least else value <= limit,
        }
        for text, value, limit, at_least in function_targets(summary, arguments)
        + packed_targets(summary, arguments)
        if value is not None
    ]


# ---- plots ----


def duration_of(cell):
    """Days of a cell of the durations part; None of its others."""
    words = cell["question"].split()
    return int(words[0]) if words[-1] == "days" and words[0].isdigit() else None


def draw_lines(axes, cells, value):
    """A line a series over the days."""
    cells = sorted((cell for cell in cells if duration_of(cell)), key=duration_of)
    for series in cells[0]["series"] if cells else []:
        axes.plot(
            [duration_of(cell) for cell in cells],
            [value(cell["series"][series]) for cell in cells],
            marker="o",
            markersize=3,
            linewidth=1.2,
            color=plots.colour(series),
            label=label_of(series),
        )
    axes.set_xticks([duration_of(cell) for cell in cells])
    axes.set_xlabel("days of history requested")
    return bool(cells)


def draw_throughput(axes, cells):
    """Rows a second over the days."""
    if draw_lines(axes, cells, lambda entry: entry["rows_per_second"]["median"]):
        axes.set_ylim(bottom=0)
        axes.set_ylabel("rows per second")


def draw_latency(axes, cells, key, name):
    """Milliseconds over the days."""
    if draw_lines(axes, cells, lambda entry: entry["latency_ms"][key]):
        plots.logarithmic_y(axes)
        axes.set_ylabel("ms a query, " + name)


def draw_durations(summary, sizes, stem):
    """Throughput and latency against the duration, a column a size."""
    for writes, suffix in ((False, ""), (True, "-writes")):
        if not find_cells(summary, part="durations", writes=writes):
            continue
        fig, grid = plots.grid(3, len(sizes), 12.0, 2.7)
        for column, size in enumerate(sizes):
            cells = find_cells(summary, part="durations", writes=writes, items=size.items)
            draw_throughput(grid[0][column], cells)
            draw_latency(grid[1][column], cells, "p50", "median")
            draw_latency(grid[2][column], cells, "p99", "p99")
            grid[0][column].set_title(size.label, fontsize=10)
        plots.legend_beside(grid[0][-1])
        plots.save(fig, stem + suffix)


def draw_bars(cells, title, unit, stem):
    """Median latencies: a group a cell, a bar a series."""
    if not cells:
        return
    names = list(cells[0]["series"])
    width = 0.8 / len(names)
    fig, axes = plots.figure(9.0)
    for place, series in enumerate(names):
        axes.bar(
            [group + place * width for group in range(len(cells))],
            [cell["series"][series]["latency_ms"]["p50"] for cell in cells],
            width,
            color=plots.colour(series),
            label=label_of(series),
        )
    axes.set_xticks([group + 0.4 - width / 2 for group in range(len(cells))])
    kinds = {cell.get("connection") for cell in cells}
    axes.set_xticklabels([group_name(cell, len(kinds) > 1) for cell in cells], fontsize=8)
    plots.logarithmic_y(axes)
    axes.set_ylabel(unit)
    axes.set_title(title, fontsize=10)
    plots.legend_beside(axes)
    plots.save(fig, stem)


def group_name(cell, has_connection):
    """What is below a group of bars."""
    text = cell["question"].replace(", ", ",\n")
    return text + "\n" + CONNECTIONS[cell["connection"]] if has_connection else text


def draw(result, stem):
    """All plots of the experiment."""
    if result.get("part") == read_questions.PART:
        read_questions.draw(result, stem)
        return
    summary, sizes = result["summary"], sizes_of(result)
    draw_durations(
        summary,
        [size for size in sizes if find_cells(summary, part="durations", items=size.items)],
        stem,
    )
    smallest = sizes[0]
    draw_bars(
        [
            cell
            for cell in find_cells(summary, part="short", items=smallest.items)
            if cell["connection"] in ("kept", "fresh")
        ],
        "Short reads (%s)" % smallest.label,
        "milliseconds, median",
        stem + "-short",
    )
    for size in {cell["items"] for cell in find_cells(summary, part="cold")}:
        draw_bars(
            find_cells(summary, part="cold", items=size),
            "Cold caches ({:,} items)".format(size),
            "milliseconds, median",
            "%s-cold-%d" % (stem, size),
        )
    draw_bars(
        find_cells(summary, part="planning", connection="kept"),
        "Planning with a year of days, kept connection",
        "milliseconds, median",
        stem + "-planning",
    )


# ---- the whole ----


def figures(arguments, installations, runs):
    """What was measured, and how."""
    summary = summarize(runs, [series.key for series in installations[0].series])
    return {
        "days": arguments.days,
        "year": arguments.year,
        "rounds": arguments.rounds,
        "slice_seconds": arguments.slice,
        "write_rate": arguments.rate,
        "recent_seconds_with_a_value_a_minute": RECENT,
        "sizes": [
            {"items": each.size.items, "seconds_between_values": each.size.step, "rows": each.rows}
            for each in installations
        ],
        "cold": "restart of the server, posix_fadvise(DONTNEED) on all its files",
        "targets": targets(summary, arguments),
        "summary": summary,
    }


def run(arguments):
    """The experiment."""
    fill_defaults(arguments)
    if read_questions.PART in arguments.parts:
        return read_questions.run(arguments)
    unreadable = {
        name: STORES[name].unreadable for name in arguments.stores if STORES[name].unreadable
    }
    with bench(arguments, arguments.stores, unreadable, **SETTINGS) as own:
        installations = [
            Installation(size, own.copies("_%d" % size.items), arguments.days)
            for size in arguments.sizes
        ]
        answers = read_parts.Answers()
        of_packed = read_packed.more_installations(
            arguments, own.copies("_%d" % arguments.packed_size.items)
        )
        runs = []
        if set(arguments.parts) - OTHER_PARTS:
            runs += measure(own.cluster, installations, of_packed, arguments, answers)
        if read_shared.PART in arguments.parts and read_packed.are_there(own.stores):
            runs += read_shared.measure(own, arguments, answers)
        if "planning" in arguments.parts:
            runs += measure_year(own.copies("_year"), arguments, answers)
        return own.conclude(
            NAME, figures(arguments, installations + of_packed, runs), answers.problems, show, draw
        )
