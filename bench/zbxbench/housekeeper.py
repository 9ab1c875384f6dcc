"""The housekeeper experiment: old values are deleted item by item, or dropped by the day.

36 hours, in compressed time, of a Zabbix that keeps history for a day.  Each store gets the same
stream.  In one, Zabbix's housekeeper deletes what has expired each hour; in the others, partitions
are created and dropped at midnight.
"""

import collections
import os
import threading
import time

from . import counters, drivers, periods, plots, results, spread, upkeep
from .cluster import SUPERUSER
from .contents import Contents
from .experiment import bench
from .progress import Progress
from .stores import STORES
from .stream import Stream, fill, latencies

NAME = "housekeeper"
HELP = "36 hours in compressed time: DELETEs by item compared with dropped partitions"

DEFAULT_STORES = ["plain", "native", "plpgsql", "zbxhist", "mariadb", "mariadb-partitioned"]

HOUR = 3600
HOURS = 36
KEPT_HOURS = 24
START_HOUR = 14  # of the first day, so midnights come after 10 and 34 hours
FIRST_DAY = -3  # the first day of the stream, before today
FIRST_ITEMID = 100000
WINDOW = 1  # hours per point in the plots
BATCH = 1000

# autovacuum must keep up with compressed time
SETTINGS = {"autovacuum": "on", "autovacuum_naptime": "1s"}


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument(
        "--stores", default=",".join(DEFAULT_STORES), help="comma-separated (default: %(default)s)"
    )
    parser.add_argument(
        "--seconds", type=float, help="duration of the 36 hours (default: 100; --quick: 10)"
    )
    parser.add_argument(
        "--rate",
        type=float,
        default=12000,
        metavar="N",
        help="values a second, approximately (default: %(default)g)",
    )
    parser.add_argument("--items", type=int, help="monitored items (default: 4000; --quick: 1000)")
    parser.add_argument("--connections", type=int, default=2, help="(default: %(default)s)")


def fill_defaults(arguments):
    """Fills in the options that were not given; leaves out items that end with the hour."""
    arguments.seconds = arguments.seconds or (10 if arguments.quick else 100)
    arguments.items = arguments.items or (1000 if arguments.quick else 4000)
    arguments.stores = arguments.stores.split(",")
    wanted = HOURS * HOUR * arguments.items / (arguments.rate * arguments.seconds)
    arguments.step = min(
        (step for step in range(1, HOUR + 1) if HOUR % step == 0),
        key=lambda step: abs(step - wanted),
    )
    arguments.rate = HOURS * HOUR // arguments.step * arguments.items / arguments.seconds


class Clock:
    """Simulated time: the stream's first value is at START_HOUR of the first day."""

    def __init__(self, arguments):
        day = periods.days(FIRST_DAY, FIRST_DAY)[0]
        self.first = day.start + START_HOUR * HOUR
        self.speed = HOURS * HOUR / arguments.seconds
        self.started = None

    def start(self):
        """The stream begins now."""
        self.started = time.time()

    def now(self):
        """The present time of Zabbix."""
        return int(self.first + (time.time() - self.started) * self.speed)

    def hour_of(self, moment):
        """Hours since the start at a moment of real time."""
        return (moment - self.started) * self.speed / HOUR

    def sleep_until(self, hours):
        """Waits until this many hours after the start."""
        time.sleep(max(0.0, self.started + hours * HOUR / self.speed - time.time()))


class Housekeeper:
    """Zabbix's housekeeper: each hour a DELETE per item, each in a transaction."""

    label = "DELETE by the housekeeper"

    def __init__(self, store, clock, arguments):
        self.store = store
        self.clock = clock
        self.items = range(FIRST_ITEMID, FIRST_ITEMID + arguments.items)
        self.runs = []

    def prepare(self):
        """Asks for the oldest value of each item, as the housekeeper does at its start."""
        self.store.execute("select itemid,min(clock) from history group by itemid")

    def hourly(self, hour):
        """Deletes everything older than the storage period."""
        started = time.time()
        cutoff = self.clock.first + hour * HOUR - KEPT_HOURS * HOUR
        connection = self.store.open_connection()
        for itemid in self.items:
            connection.execute(
                "delete from history where itemid=%d and clock<%d" % (itemid, cutoff)
            )
        connection.close()
        self.runs.append({"hour": hour, "seconds": time.time() - started})


class Partitions:
    """Creates and drops a partition at midnight, and runs maintenance each hour."""

    label = "partitions dropped"

    def __init__(self, store, clock, arguments):
        del arguments
        self.upkeep = upkeep.upkeep_of(store)
        self.clock = clock
        self.runs = []

    def prepare(self):
        """Nothing to prepare: the partitions exist."""

    def hourly(self, hour):
        """Runs maintenance; at midnight drops the day that has expired."""
        started = time.time()
        if (START_HOUR + hour) % 24 == 0:
            midnights = (START_HOUR + hour) // 24
            self.upkeep.add(periods.days(FIRST_DAY + midnights + 1, FIRST_DAY + midnights + 1)[0])
            self.upkeep.drop(periods.days(FIRST_DAY + midnights - 2, FIRST_DAY + midnights - 2)[0])
            self.runs.append({"hour": hour, "seconds": time.time() - started})
        else:
            self.upkeep.maintain()


def removal_of(store, clock, arguments):
    """The housekeeper, where nothing drops partitions."""
    kind = Partitions if upkeep.upkeep_of(store).drops_days else Housekeeper
    return kind(store, clock, arguments)


class HourHand(threading.Thread):
    """Calls the removal each simulated hour; if one takes longer, the next is late."""

    def __init__(self, removal, clock):
        super().__init__(daemon=True)
        self.removal = removal
        self.clock = clock
        self.late_hours = 0.0
        self.error = None

    def run(self):
        try:
            for hour in range(1, HOURS):
                self.clock.sleep_until(hour)
                self.late_hours = max(self.late_hours, self.clock.hour_of(time.time()) - hour)
                self.removal.hourly(hour)
        except Exception as error:  # pylint: disable=broad-except
            self.error = error


def days_before_midnight():
    """The partitions at the start: yesterday's, today's and tomorrow's."""
    return periods.days(FIRST_DAY - 1, FIRST_DAY + 1)


def prefill(store, clock, arguments):
    """Loads the day of values that Zabbix keeps, in its two partitions."""
    start = clock.first - KEPT_HOURS * HOUR
    for day in periods.days(FIRST_DAY - 1, FIRST_DAY):
        stop = min(day.stop, clock.first)
        load = drivers.Load(
            BATCH,
            1,
            (stop - start) // arguments.step * arguments.items,
            0,
            start,
            items=arguments.items,
            step=arguments.step,
            seed=2,
        )
        fill(store, "history", day, load)
        start = stop


def run_store(store, arguments, progress):
    """Runs 36 hours on a store."""
    clock = Clock(arguments)
    progress.show("%s: a day of values" % store.name)
    store.create(("history",), days_before_midnight())
    prefill(store, clock, arguments)
    store.settle()
    removal = removal_of(store, clock, arguments)
    load = drivers.Load(
        BATCH,
        arguments.connections,
        0,
        0,
        clock.first,
        items=arguments.items,
        step=arguments.step,
    )
    progress.show("%s: %s" % (store.name, removal.label))
    # the last batch is due one batch before the end
    stream = Stream(
        store,
        arguments.rate,
        arguments.connections,
        load,
        arguments.seconds - 0.5 * BATCH / arguments.rate,
    )
    try:
        clock.start()
        sampler = counters.Sampler(store.server_pid(), arguments.seconds / HOURS / 2)
        hand = HourHand(removal, clock)
        sampler.start()
        removal.prepare()
        hand.start()
        result, statements = stream.wait()
        hand.join()
        samples = sampler.stop()
    finally:
        stream.close()
    if hand.error:
        raise hand.error
    entry = account(result, statements, samples, clock)
    entry.update(
        removal=removal.label, late_hours=hand.late_hours, runs=removal.runs, **bloat(store)
    )
    return entry


def account(result, statements, samples, clock):
    """Latency and CPU of the whole run, and by hour."""
    span = {"from": samples[0][0], "to": samples[-1][0]}
    user, system, iowait = (samples[-1][i] - samples[0][i] for i in (1, 2, 3))
    millions = result["values"] / 1e6
    return dict(
        latencies(statements, span),
        values=result["values"],
        failed=result["failed"],
        lost=result["lost"],
        duplicates=result["duplicates"],
        seconds=span["to"] - span["from"],
        user_seconds_per_million=user / millions,
        system_seconds_per_million=system / millions,
        cpu_seconds_per_million=(user + system) / millions,
        machine_iowait_seconds=iowait,
        latency_by_hour=latency_by_hour(statements, clock),
        cpu_by_hour=cpu_by_hour(samples, clock),
    )


def latency_by_hour(statements, clock):
    """(hour, p50, p99, max) of the INSERTs, in milliseconds."""
    hours = collections.defaultdict(list)
    for statement in statements:
        hours[int(clock.hour_of(statement["start"]) // WINDOW)].append(statement["latency"])
    return [
        (hour, spread.percentile(values, 0.5), spread.percentile(values, 0.99), max(values))
        for hour, values in sorted(hours.items())
    ]


def cpu_by_hour(samples, clock):
    """(hour, user, system, iowait) in percent of the machine between samples."""
    cores = os.cpu_count()
    shares = []
    for before, after in zip(samples, samples[2:]):
        seconds = (after[0] - before[0]) * cores
        shares.append(
            (round(clock.hour_of(after[0]), 2),)
            + tuple(round((after[i] - before[i]) / seconds * 100, 2) for i in (1, 2, 3))
        )
    return shares


def bloat(store):
    """Size at the end, and the part that holds no value."""
    size = store.disk_bytes()
    rows = store.rows("history")
    return {
        "bytes": size,
        "rows": rows,
        "bytes_per_row": size / rows,
        "dead_share": dead_share(store),
    }


def dead_share(store):
    """The share of the tables' bytes that is dead rows or free space; None if unknown."""
    if not store.is_postgres:
        return None
    store.execute("CREATE EXTENSION IF NOT EXISTS pgstattuple", SUPERUSER)
    rows = store.execute(
        "SELECT sum(s.dead_tuple_len + s.free_space)::float / sum(s.table_len) FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = c.relnamespace, pgstattuple(c.oid) s "
        "WHERE c.relkind = 'r' AND n.nspname !~ '^(pg_|information_schema)' AND s.table_len > 0",
        SUPERUSER,
    )
    return rows[0][0]


def verify(store, entry, arguments, contents, reference, problems):
    """Values that have not expired must be there, the same in every store."""
    clock = Clock(arguments)
    for what in ("failed", "lost", "duplicates"):
        if entry[what]:
            problems.append("%s: %s %s" % (store.name, what, entry[what]))
    cutoff = clock.first + (HOURS - KEPT_HOURS) * HOUR
    store.execute("DELETE FROM history WHERE clock < %d" % cutoff)
    found = contents.of(store, "history")
    name, wanted = reference.setdefault("history", (store.name, found))
    if found != wanted:
        problems.append(
            "%s: %d rows of the last day, %s has %d, or others"
            % (store.name, found[0], name, wanted[0])
        )
    problems.extend(store.check())


def show(result):
    """Prints the table of a result."""
    rows = []
    for name, entry in result["summary"].items():
        latency = entry["latency_ms"]
        dead = entry["dead_share"]
        rows.append(
            [
                results.judged(STORES[name].label, name, result["problems"]),
                entry["removal"],
                results.number(entry["values"]),
                results.number(latency["p50"], 1),
                results.number(latency["p99"], 1),
                results.number(latency["max"], 1),
                results.number(entry["delay_ms"]["p99"], 1),
                results.number(entry["user_seconds_per_million"], 2),
                results.number(entry["system_seconds_per_million"], 2),
                results.number(entry["cpu_seconds_per_million"], 2),
                results.number(entry["late_hours"], 1),
                results.number(entry["bytes"] / 2**20),
                results.number(entry["bytes_per_row"]),
                results.number(None if dead is None else dead * 100, 0),
            ]
        )
    print("\n36 hours in %g seconds, a day kept" % result["seconds"])
    print(
        results.table(
            [
                "store",
                "removal",
                "values",
                "INSERT p50 ms",
                "p99",
                "max",
                "delay p99",
                "user s/million",
                "system",
                "CPU",
                "late by hours",
                "MB at the end",
                "bytes a row",
                "dead or free %",
            ],
            rows,
        )
    )


def draw(result, stem):
    """Plots latency and CPU over the hours."""
    fig, (top, middle, bottom) = plots.panels(3, 10.0, 2.2)
    for name, entry in result["summary"].items():
        line = {"color": plots.colour(name), "linewidth": 1.2}
        label = "%s, %s" % (STORES[name].label, entry["removal"])
        points = entry["latency_by_hour"]
        top.plot(
            [point[0] + WINDOW / 2 for point in points],
            [point[2] for point in points],
            label=label,
            **line,
        )
        cpu = entry["cpu_by_hour"]
        hours = [sample[0] for sample in cpu]
        middle.plot(hours, [sample[1] for sample in cpu], label="user", **line)
        middle.plot(hours, [sample[2] for sample in cpu], linestyle=":", **line)
        bottom.plot(hours, [sample[3] for sample in cpu], **line)
    plots.logarithmic_y(top)
    top.set_ylabel("INSERT, p99\nof an hour, ms")
    middle.set_ylabel("CPU of the database,\n% of the machine")
    middle.set_title("user (solid), system (dotted)", fontsize=8, loc="right")
    bottom.set_ylabel("machine waits for\nthe disk, % of CPU")
    bottom.set_ylim(bottom=0)
    bottom.set_xlabel("hours, in compressed time; midnight after 10 and 34")
    for axes in (top, middle, bottom):
        for midnight in range(24 - START_HOUR, HOURS, 24):
            axes.axvline(midnight, color="#bbbbbb", linewidth=0.8, linestyle="--")
    fig.suptitle("The housekeeper's DELETEs, or partitions dropped", fontsize=10)
    plots.legend_beside(top)
    plots.save(fig, stem)


def run(arguments):
    """Runs the experiment."""
    fill_defaults(arguments)
    with bench(arguments, arguments.stores, **SETTINGS) as own:
        summary, problems = {}, []
        contents, reference = Contents(own.stores), {}
        progress = Progress(len(own.stores), NAME)
        for store in own.stores:
            summary[store.name] = run_store(store, arguments, progress)
            verify(store, summary[store.name], arguments, contents, reference, problems)
            store.drop()
            progress.step()
        progress.finish()
        return own.conclude(
            NAME,
            {
                "seconds": arguments.seconds,
                "rate": arguments.rate,
                "items": arguments.items,
                "step": arguments.step,
                "summary": summary,
            },
            problems,
            show,
            draw,
        )
