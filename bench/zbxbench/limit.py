"""The limit experiment: the highest rate that a store sustains.

Values are offered at a fixed rate (open loop), a step at a time, each step
higher, until a limit is met; the span between the last rate that was
sustained and the first that was not is then halved a few times.  A value's
delay counts from when it was due, so a queue cannot hide.
"""

import os
import random
import statistics
import time

from . import counters, drivers, periods, plots, results, upkeep
from .contents import Contents
from .experiment import SLOW_TO_START, bench, names_of
from .progress import Progress
from .stores import STORES
from .stream import Stream, fill, latencies

NAME = "limit"
HELP = "the highest rate of values that each store sustains, with maintenance going on"

DEFAULT_STORES = [
    "plain",
    "native",
    "partman",
    "plpgsql",
    "zbxhist",
    "mariadb",
    "mariadb-partitioned",
    "cassandra",
]

ITEMS = 30000
STEP = 20  # simulated seconds a pass
GROWTH, QUICK_GROWTH = 1.6, 2.0  # from one step to the next
DELAY_LIMIT = 1000.0  # ms, p99 from due to commit
CPU_LIMIT = 0.5  # of the machine, by the database server
QUEUE_LIMIT = 0.02  # seconds which the delay grows in a second
QUEUE_FLOOR = 100.0  # ms of delay below which nothing queues
HOSTS_PER_NVPS = 200000 / 2270
EXPIRED_ROWS, QUICK_EXPIRED_ROWS = 150000, 20000
MAX_STEPS = 20
FIRST_DAY, LAST_DAY = -MAX_STEPS - 1, 3


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument(
        "--stores",
        help="comma-separated (default: %s; --quick: without "
        "cassandra, which takes its time to start)" % ",".join(DEFAULT_STORES),
    )
    parser.add_argument(
        "--rows",
        type=int,
        default=1000,
        help="values a batch (default: %(default)s, Zabbix's greatest)",
    )
    parser.add_argument(
        "--connections",
        type=int,
        default=4,
        help="history syncers (default: %(default)s, Zabbix's default)",
    )
    parser.add_argument("--seconds", type=float, help="of a step (default: 5; --quick: 1)")
    parser.add_argument(
        "--first",
        type=float,
        metavar="N",
        help="values a second in the first step (default: 15,000; --quick: 40,000)",
    )
    parser.add_argument(
        "--halvings", type=int, help="steps after the first limit (default: 2; --quick: 1)"
    )


def fill_defaults(arguments):
    """What was not given, by form."""
    quick = arguments.quick
    arguments.seconds = arguments.seconds or (1 if quick else 5)
    arguments.first = arguments.first or (40000 if quick else 15000)
    if arguments.halvings is None:
        arguments.halvings = 1 if quick else 2
    arguments.growth = QUICK_GROWTH if quick else GROWTH
    arguments.stores = names_of(arguments, DEFAULT_STORES, SLOW_TO_START)


def growth_of_delay(statements):
    """Seconds by which the delay grows in a second: the slope of a straight line."""
    times = [statement["start"] for statement in statements]
    delays = [statement["delay"] / 1e3 for statement in statements]
    middle, mean = statistics.fmean(times), statistics.fmean(delays)
    spread_of_times = sum((moment - middle) ** 2 for moment in times)
    if spread_of_times == 0:
        return 0.0
    return (
        sum((moment - middle) * (delay - mean) for moment, delay in zip(times, delays))
        / spread_of_times
    )


def is_queue_growing(statements):
    """Whether the delay grows, and is still high in the last quarter: a hitch is no queue."""
    last = statements[-max(1, len(statements) // 4) :]
    return (
        growth_of_delay(statements) > QUEUE_LIMIT
        and statistics.median(statement["delay"] for statement in last) > QUEUE_FLOOR
    )


def limits_met(step):
    """The names of the limits that a step has met."""
    met = []
    if step["queue_grows"]:
        met.append("queue grows")
    if step["delay_ms"]["p99"] > DELAY_LIMIT:
        met.append("delay")
    if step["cpu_share"] > CPU_LIMIT:
        met.append("CPU")
    return met


class Maintenance:
    """A partition made and an old day dropped, in the middle of each step."""

    def __init__(self, store, is_quick):
        self.upkeep = upkeep.upkeep_of(store)
        self.expired_rows = QUICK_EXPIRED_ROWS if is_quick else EXPIRED_ROWS
        self.store = store
        self.old = periods.days(FIRST_DAY, FIRST_DAY + MAX_STEPS - 1)
        self.ahead = LAST_DAY

    def prepare(self):
        """Fills the oldest day, which will be dropped."""
        if not self.upkeep.drops_days:
            return
        if not self.old:
            raise RuntimeError("more than %d steps: raise --first" % MAX_STEPS)
        load = drivers.Load("loader", 1000, 1, self.expired_rows, 0, self.old[0].start, items=ITEMS)
        fill(self.store, "history", self.old[0], load)

    def run(self):
        """Returns the seconds it took; None where there is nothing to do."""
        if not self.upkeep.drops_days:
            return None
        started = time.time()
        self.ahead += 1
        self.upkeep.add(periods.days(self.ahead, self.ahead)[0])
        self.upkeep.drop(self.old.pop(0))
        return time.time() - started


def run_step(store, kept, rate, arguments):
    """One rate for some seconds, on empty tables."""
    store.clean()
    kept.prepare()
    load = drivers.Load(
        "loader",
        arguments.rows,
        arguments.connections,
        0,
        ITEMS,
        periods.clock(periods.today()),
        items=ITEMS,
        step=STEP,
    )
    stream = Stream(store, rate, arguments.connections, load, arguments.seconds)
    try:
        started = time.time()
        sampler = counters.Sampler(store.server_pid(), arguments.seconds / 20)
        sampler.start()
        time.sleep(arguments.seconds * 0.4)
        seconds = kept.run()
        result, statements = stream.wait()
        samples = sampler.stop()
    finally:
        stream.close()
    return step_of(rate, started, result, statements, samples, seconds)


def step_of(rate, started, result, statements, samples, maintained):
    """A step's figures."""
    statements.sort(key=lambda statement: statement["start"])
    elapsed = samples[-1][0] - samples[0][0]
    cpu = sum(samples[-1][1:3]) - sum(samples[0][1:3])
    step = dict(
        latencies(statements, {"from": started, "to": samples[-1][0]}),
        rate=rate,
        seconds=result["seconds"],
        values=result["values"],
        values_per_second=result["values_per_second"],
        failed=result["failed"],
        lost=result["lost"],
        duplicates=result["duplicates"],
        maintenance_seconds=maintained,
        cpu_share=cpu / elapsed / os.cpu_count(),
        cpu_seconds_per_million=cpu / result["values"] * 1e6,
        queue_grows=is_queue_growing(statements),
    )
    step["limits"] = limits_met(step)
    return step


class Checks:
    """Every store must hold what it was sent, and of one rate the same as the others."""

    def __init__(self, stores):
        self.contents = Contents(stores)
        self.problems = []
        self.checksums = {}

    def check(self, store, step):
        """After a step."""
        where = "%s at %.0f values/s" % (store.name, step["rate"])
        if step["failed"] or step["lost"] or step["duplicates"]:
            self.problems.append(
                "%s: failed statements %s, values lost %d, duplicates %d"
                % (where, step["failed"], step["lost"], step["duplicates"])
            )
        rows, checksum = self.contents.of(store, "history")
        if rows != step["values"] + ITEMS:
            self.problems.append(
                "%s: %d rows instead of %d" % (where, rows, step["values"] + ITEMS)
            )
        name, reference = self.checksums.setdefault((step["rate"], rows), (store.name, checksum))
        if checksum != reference:
            self.problems.append("%s: other rows than %s" % (where, name))
        self.problems.extend("%s: %s" % (where, problem) for problem in store.check())


class Climb:
    """One store on its way up: from step to step, then nearer to the limit.

    A limit of delay or queue must be met twice at a rate: another process on
    the machine may have been the cause of the first.
    """

    def __init__(self, store, arguments):
        self.store = store
        self.maintenance = Maintenance(store, arguments.quick)
        self.arguments = arguments
        self.steps = []
        self.low, self.high = 0.0, None
        self.rate = arguments.first
        self.halvings = arguments.halvings
        self.is_second_try = False
        self.is_done = False

    def take(self, step):
        """Decides by a step how to go on."""
        if step["limits"] and step["limits"] != ["CPU"] and not self.is_second_try:
            self.is_second_try = True
            return
        self.is_second_try = False
        self.steps.append(step)
        if step["limits"]:
            self.high = self.rate
        else:
            self.low = self.rate
        if self.high is None:
            self.rate = round(self.rate * self.arguments.growth, -2)
        elif self.halvings > 0:
            self.halvings -= 1
            self.rate = round((self.low + self.high) / 2, -2)
        else:
            self.is_done = True


def climb_all(stores, arguments, checks, progress):
    """All stores, a step of each in turn, so that a busy minute disturbs them alike."""
    climbs = [Climb(store, arguments) for store in stores]
    order = random.Random(1)
    while any(not climb.is_done for climb in climbs):
        for climb in order.sample(climbs, len(climbs)):
            if climb.is_done:
                continue
            progress.show("%s, %.0f values/s" % (climb.store.name, climb.rate))
            step = run_step(climb.store, climb.maintenance, climb.rate, arguments)
            checks.check(climb.store, step)
            climb.take(step)
            progress.step()
    return {
        climb.store.name: sorted(climb.steps, key=lambda step: step["rate"]) for climb in climbs
    }


def summarize(steps):
    """The highest rate sustained, and what ended it."""
    good = [step for step in steps if not step["limits"]]
    bad = [step for step in steps if step["limits"]]
    best = good[-1] if good else None
    nvps = best["rate"] if best else 0.0
    cpu_rates = [
        CPU_LIMIT * os.cpu_count() * 1e6 / step["cpu_seconds_per_million"]
        for step in good or bad[:1]
    ]
    return {
        "nvps": nvps,
        "items": nvps * 60,
        "hosts": nvps * HOSTS_PER_NVPS,
        "nvps_by_cpu": statistics.median(cpu_rates[-3:]),
        "best": best,
        "ended_by": bad[0]["limits"],
        "ended_at": bad[0]["rate"],
    }


def show(result):
    """The table of a result."""
    rows = []
    for name, entry in result["summary"].items():
        best = entry["best"] or {}
        delay = best.get("delay_ms", {})
        rows.append(
            [
                results.judged(STORES[name].label, name, result["problems"]),
                results.number(entry["nvps"]),
                results.number(entry["items"]),
                results.number(entry["hosts"]),
                ", ".join(entry["ended_by"]),
                results.number(entry["ended_at"]),
                results.number(entry["nvps_by_cpu"]),
                results.number(delay.get("p50"), 1),
                results.number(delay.get("p99"), 1),
                results.number(delay.get("max"), 1),
                results.number(best.get("cpu_share", 0) * 100, 0),
                results.number(best.get("cpu_seconds_per_million"), 2),
            ]
        )
    print("\nThe highest rate sustained, and what it stands for")
    print(
        results.table(
            [
                "store",
                "values/s",
                "items, 1 value a minute",
                "hosts",
                "ended by",
                "at values/s",
                "CPU allows",
                "delay p50 ms",
                "p99",
                "max",
                "CPU %",
                "CPU s per million",
            ],
            rows,
        )
    )


def targets(summary):
    """Where zbxhist stands to the other ways in PostgreSQL."""
    own = summary.get("zbxhist", {}).get("nvps")
    return [
        {
            "target": "highest rate sustained, zbxhist to %s, above 1" % STORES[name].label,
            "value": own / summary[name]["nvps"],
            "met": own > summary[name]["nvps"],
        }
        for name in ("plain", "native", "partman", "plpgsql")
        if own and summary.get(name, {}).get("nvps")
    ]


def draw(result, stem):
    """Delay and CPU against the offered rate, a line a store."""
    fig, (top, bottom) = plots.panels(2, 8.5, 2.6)
    for name in result["summary"]:
        steps = [step for step in result["runs"] if step["store"] == name]
        rates = [step["rate"] / 1000 for step in steps]
        style = {
            "marker": "o",
            "markersize": 3.5,
            "color": plots.colour(name),
            "label": STORES[name].label,
        }
        top.plot(rates, [step["delay_ms"]["p99"] for step in steps], **style)
        bottom.plot(rates, [step["cpu_share"] * 100 for step in steps], **style)
    plots.logarithmic_y(top)
    for axes, limit in ((top, DELAY_LIMIT), (bottom, CPU_LIMIT * 100)):
        axes.axhline(limit, color="#333333", linewidth=0.8, linestyle=":")
        axes.annotate(
            "limit",
            (0.01, limit),
            xycoords=("axes fraction", "data"),
            fontsize=7,
            ha="left",
            va="bottom",
        )
    top.set_ylabel("delay from due\nto commit, p99, ms")
    bottom.set_ylabel("CPU of the database,\n% of the machine")
    bottom.set_xlabel("values offered, thousands per second")
    top.set_title("Delay and CPU by offered rate, with maintenance in each step", fontsize=10)
    plots.legend_beside(top)
    plots.save(fig, stem)


def run(arguments):
    """The experiment."""
    fill_defaults(arguments)
    with bench(arguments, arguments.stores) as own:
        checks = Checks(own.stores)
        progress = Progress(len(own.stores) * (arguments.halvings + 7), NAME)
        for store in own.stores:
            store.create(("history",), periods.days(FIRST_DAY, LAST_DAY))
        steps_of = climb_all(own.stores, arguments, checks, progress)
        for store in own.stores:
            store.drop()
        progress.finish()
        summary = {name: summarize(steps) for name, steps in steps_of.items()}
        return own.conclude(
            NAME,
            {
                "rows": arguments.rows,
                "connections": arguments.connections,
                "seconds": arguments.seconds,
                "targets": targets(summary),
                "summary": summary,
                "runs": [
                    dict(step, store=name) for name, steps in steps_of.items() for step in steps
                ],
            },
            checks.problems,
            show,
            draw,
        )
