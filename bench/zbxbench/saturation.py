"""The saturation experiment: values stored in a window against the number of monitored items.

The write paper's figure.  Every item has a value each interval, offered when it
is due (open loop), whether or not the store has kept up.  The number of items
is raised until the store saturates, and a step beyond.
"""

import random

from . import drivers, periods, plots, results, spread
from .experiment import bench
from .progress import Progress
from .stores import STORES

NAME = "saturation"
HELP = "values stored in a window against the number of monitored items, for every store"

DEFAULT_STORES = [
    "nullwrite",
    "mem",
    "plain",
    "native",
    "partman",
    "plpgsql",
    "zbxhist",
    "mariadb",
    "mariadb-partitioned",
    "cassandra",
    "cassandra-sync",
    "hbase",
    "riak",
]

ITEMS = [200000, 400000, 800000, 1200000, 1800000, 2600000, 4000000]
QUICK_ITEMS = [200000, 4000000]
SATURATED = 0.9  # of what was offered: less is saturated
STEPS_BEYOND = 2  # so many saturated steps are measured, then it is over
BATCH = 1000
WARMUP = 20000  # values before each window, not counted
FIRST_DAY, LAST_DAY = -1, 1


def add_arguments(parser):
    """The experiment's own options."""
    from .cli import numbers

    parser.add_argument(
        "--stores", default=",".join(DEFAULT_STORES), help="comma-separated (default: %(default)s)"
    )
    parser.add_argument("--items", type=numbers, help="steps (default: 200,000 to 4 million)")
    parser.add_argument(
        "--interval",
        type=int,
        default=10,
        metavar="S",
        help="seconds between two values of an item (default: %(default)s)",
    )
    parser.add_argument("--window", type=float, metavar="S", help="(default: 2; --quick: 0.7)")
    parser.add_argument(
        "--connections",
        type=int,
        default=4,
        help="history syncers (default: %(default)s, Zabbix's default)",
    )
    parser.add_argument("--rounds", type=int, help="(default: 3; --quick: 1)")
    parser.add_argument("--seed", type=int, default=1, help="of values and of the order of runs")


def fill_defaults(arguments):
    """What was not given, by form."""
    quick = arguments.quick
    arguments.stores = arguments.stores.split(",")
    arguments.items = sorted(arguments.items or (QUICK_ITEMS if quick else ITEMS))
    arguments.window = arguments.window or (0.7 if quick else 2)
    arguments.rounds = arguments.rounds or (1 if quick else 3)
    if any(items % BATCH for items in arguments.items):
        raise RuntimeError("--items must be multiples of %d" % BATCH)


def load_of(arguments, items, round_number):
    """The stream of a number of items."""
    return drivers.Load(
        "loader",
        BATCH,
        arguments.connections,
        0,
        WARMUP,
        periods.clock(periods.today()),
        items=items,
        step=arguments.interval,
        seed=arguments.seed + round_number,
    )


def run_window(store, load, rate, seconds):
    """Offers values for so long (rate 0: as fast as it goes); figures of the window."""
    store.clean()
    loader = drivers.LoaderProcess(
        store.loader_arguments()
        + drivers.stream_arguments(load)
        + [
            "--connections=%d" % load.connections,
            "--warmup=%d" % load.warmup,
            "--seconds=%g" % seconds,
            "--rate=%g" % rate,
            "--cut",
            "--handshake",
        ]
    )
    try:
        loader.event("ready")
        store.before_run()
        cpu = store.server_cpu()
        loader.go_on()
        done = loader.event("done")
        cpu = store.server_cpu() - cpu
        loader.finish()
    finally:
        loader.kill()
    store.after_run()
    return {
        "offered": rate * seconds,
        "stored": done["values_in_time"],
        "values": done["values"],
        "seconds": done["seconds"],
        "server_cpu_us_per_value": cpu / max(done["values"], 1) * 1e6,
        "delay_ms": {key: done["batch_ms"][key] for key in ("p50", "p99", "max")},
        "failed": done["failed"],
        "lost": done["lost"],
        "duplicates": done["duplicates"],
    }


def problems_of(store, load, window):
    """What is wrong with what the store holds after a window."""
    found = []
    if window["failed"] or window["lost"] or window["duplicates"]:
        found.append(
            "failed requests %s, values lost %d, duplicates %d"
            % (window["failed"], window["lost"], window["duplicates"])
        )
    if store.keeps_rows:
        held = drivers.read_back(store, "history")
        sent = drivers.stream_digest(load, load.warmup + window["values"])
        if held != sent:
            found.append(
                "%d rows instead of %d, checksum %s instead of %s"
                % (held["rows"], sent["rows"], held["checksum"], sent["checksum"])
            )
    elif store.rows("history"):
        found.append("rows where none are kept")
    return found + store.check()


def climb(store, arguments, round_number, progress):
    """One round of a store: step after step, until it has been saturated for long enough."""
    windows, saturated = [], 0
    for items in arguments.items:
        progress.show("%s, %d items, round %d" % (store.name, items, round_number + 1))
        load = load_of(arguments, items, round_number)
        window = run_window(store, load, items / arguments.interval, arguments.window)
        window["problems"] = problems_of(store, load, window)
        windows.append(dict(window, store=store.name, round=round_number, items=items))
        progress.step()
        saturated += window["stored"] < SATURATED * window["offered"]
        if saturated == STEPS_BEYOND:
            break
    store.clean()
    progress.step(len(arguments.items) - len(windows))
    return windows


def run_rounds(stores, arguments):
    """All rounds, the stores in another order in each."""
    order = random.Random(arguments.seed)
    progress = Progress(arguments.rounds * len(stores) * len(arguments.items), NAME)
    for store in [] if arguments.quick else stores:
        progress.show("%s warms up" % store.name)
        run_window(store, load_of(arguments, arguments.items[0], 0), 0, arguments.window)
    windows = []
    for round_number in range(arguments.rounds):
        for store in order.sample(stores, len(stores)):
            windows += climb(store, arguments, round_number, progress)
    progress.finish()
    return windows


def step_of(windows):
    """The rounds of one step: medians and spreads."""
    return {
        "items": windows[0]["items"],
        "offered": windows[0]["offered"],
        "rounds": len(windows),
        "stored": spread.spread([window["stored"] for window in windows]),
        "delay_p99_ms": spread.spread([window["delay_ms"]["p99"] for window in windows]),
        "server_cpu_us_per_value": spread.spread(
            [window["server_cpu_us_per_value"] for window in windows]
        ),
    }


def best_of_rounds(windows):
    """Of each round the window in which most was stored: rounds differ in when they end."""
    return [
        max(
            (window for window in windows if window["round"] == round_number),
            key=lambda window: window["stored"],
        )
        for round_number in sorted({window["round"] for window in windows})
    ]


def summarize_store(windows, seconds):
    """A store's curve, and what it says."""
    best = best_of_rounds(windows)
    most = spread.spread([window["stored"] for window in best])
    steps = [
        step_of([window for window in windows if window["items"] == items])
        for items in sorted({window["items"] for window in windows})
    ]
    kept_up = [step for step in steps if step["stored"]["median"] >= SATURATED * step["offered"]]
    return {
        "steps": steps,
        "items_kept_up": kept_up[-1]["items"] if kept_up else 0,
        "is_limit_reached": len(kept_up) < len(steps),
        "at_most": most,
        "at_most_per_second": most["median"] / seconds,
        "server_cpu_us_per_value": spread.spread(
            [window["server_cpu_us_per_value"] for window in best]
        ),
        "problems": sum(len(window["problems"]) for window in windows),
        "lost": sum(window["lost"] for window in windows),
    }


def note_of(entry):
    """What must be said beside the figures."""
    if entry["problems"]:
        return "WRONG %d times, %d values lost" % (entry["problems"], entry["lost"])
    return "" if entry["is_limit_reached"] else "not saturated"


def row_of(name, entry):
    """A store's line."""
    most = entry["at_most"]
    return [
        STORES[name].label,
        results.number(entry["items_kept_up"]),
        results.number(entry["at_most_per_second"]),
        results.spread_text(most),
        results.number(entry["server_cpu_us_per_value"]["median"], 2),
        note_of(entry),
    ]


def show(result):
    """The table of a result, with a line for each store that could not take part."""
    rows = [row_of(name, entry) for name, entry in result["summary"].items()]
    rows += [
        [STORES[name].label, "-", "-", "-", "-", reason]
        for name, reason in result["skipped"].items()
    ]
    print(
        "\nItems with a value every %d s; values stored in a window of %g s"
        % (result["interval"], result["window"])
    )
    print(
        results.table(
            [
                "store",
                "items kept up with",
                "values/s at most",
                "in the window",
                "server us/value",
                "",
            ],
            rows,
        )
    )


def draw(result, stem):
    """Values stored in the window against items, a line a store."""
    fig, axes = plots.figure(7.6, 4.2)
    for name, entry in result["summary"].items():
        steps = entry["steps"]
        stored = [step["stored"] for step in steps]
        axes.errorbar(
            [step["items"] for step in steps],
            [each["median"] / 1000 for each in stored],
            yerr=[[part / 1000 for part in side] for side in plots.errors(stored)],
            marker="o",
            markersize=3.5,
            capsize=2,
            color=plots.colour(name),
            label=STORES[name].label,
        )
    span = [result["items"][0], result["items"][-1]]
    axes.plot(
        span,
        [items / result["interval"] * result["window"] / 1000 for items in span],
        color="#333333",
        linewidth=0.8,
        linestyle=":",
        label="all that was offered",
    )
    axes.set_xscale("log")
    axes.set_xticks(result["items"])
    axes.set_xticklabels(["%g" % (items / 1e6) for items in result["items"]])
    axes.minorticks_off()
    plots.logarithmic_y(axes)
    axes.set_xlabel("monitored items, millions, a value every %d s" % result["interval"])
    axes.set_ylabel("thousands of values stored in %g s" % result["window"])
    axes.set_title(
        "Values stored in a window against monitored items\n(%d connections, "
        "%d values a batch)" % (result["connections"], BATCH),
        fontsize=10,
    )
    plots.legend_beside(axes)
    plots.save(fig, stem)


def targets(summary):
    """Where zbxhist stands to the other ways in PostgreSQL."""
    own = summary.get("zbxhist", {}).get("at_most_per_second")
    return [
        {
            "target": "values stored at most, zbxhist to %s, above 1" % STORES[name].label,
            "value": own / summary[name]["at_most_per_second"],
            "met": own > summary[name]["at_most_per_second"],
        }
        for name in ("plain", "native", "partman", "plpgsql")
        if own and summary.get(name, {}).get("at_most_per_second")
    ]


def run(arguments):
    """The experiment."""
    fill_defaults(arguments)
    with bench(arguments, arguments.stores) as own:
        for store in own.stores:
            store.create(("history",), periods.days(FIRST_DAY, LAST_DAY))
        windows = run_rounds(own.stores, arguments)
        problems = [
            "%s, %d items, round %d: %s"
            % (window["store"], window["items"], window["round"] + 1, problem)
            for window in windows
            for problem in window["problems"]
        ]
        summary = {
            store.name: summarize_store(
                [window for window in windows if window["store"] == store.name], arguments.window
            )
            for store in own.stores
        }
        return own.conclude(
            NAME,
            {
                "items": arguments.items,
                "interval": arguments.interval,
                "window": arguments.window,
                "connections": arguments.connections,
                "rounds": arguments.rounds,
                "targets": targets(summary),
                "summary": summary,
                "runs": windows,
            },
            problems,
            show,
            draw,
        )
