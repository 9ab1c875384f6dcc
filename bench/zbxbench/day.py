"""The day experiment: what a whole day costs on a server, hour by hour.

Items have a value a minute.  There is a checkpoint every quarter of an hour, and maintenance
runs by a timer.  Time is compressed: the server's clock shows the time of the values.
Everything that any process writes is counted: WAL with full-page images, pages, and what
packing writes.
"""

import concurrent.futures
import math
import os
import tempfile
import time

from . import drivers, periods
from .day_costs import costs_of
from .day_pages import DirtyPages
from .day_report import draw, show, summarize
from .day_upkeep import TABLE, upkeep_of
from .experiment import bench, names_of
from .progress import Progress
from .simclock import SimulatedClock
from .stream import latencies

NAME = "day"
HELP = "a day of values with checkpoints and maintenance: WAL, pages, disk and CPU by the hour"

DEFAULT_STORES = [
    "plain",
    "native",
    "partman",
    "zbxhist-day",
    "zbxhist-hour-compacted",
    "mariadb-partitioned",
]

BATCH = 1000
MINUTE, HOUR = 60, 3600

# the WAL of an hour is read when the hour is over; bytes per value to keep until then, with
# reserve
LOG_KEPT = 1500

# of maintenance after the day, if one run packs only some of what is due
MAX_RUNS = 50


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument("--stores", help="comma-separated (default: %s)" % ",".join(DEFAULT_STORES))
    parser.add_argument(
        "--items", type=int, help="items with a value a minute (default: 20000; --quick: 500)"
    )
    parser.add_argument(
        "--hours", type=int, help="hours of the day, from midnight (default: 24; --quick: 3)"
    )
    parser.add_argument(
        "--checkpoint-minutes",
        type=int,
        default=15,
        choices=(5, 15, 30, 60),
        help="simulated minutes between checkpoints " "(default: %(default)s)",
    )
    parser.add_argument(
        "--maintenance-minutes",
        type=int,
        default=15,
        choices=(5, 15, 30, 60),
        help="simulated minutes between runs of maintenance (default: %(default)s)",
    )
    parser.add_argument(
        "--tail-hours",
        type=int,
        help="hours of maintenance after the last value " "(default: 3; --quick: 1)",
    )
    parser.add_argument("--connections", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument(
        "--rate",
        type=float,
        default=0,
        metavar="N",
        help="values offered per second (default: as fast as it goes)",
    )
    parser.add_argument(
        "--autovacuum", default="on", choices=("on", "off"), help="(default: %(default)s)"
    )
    parser.add_argument(
        "--wal-compression",
        default="off",
        metavar="METHOD",
        help="the server's setting, for all stores (default: %(default)s)",
    )
    parser.add_argument(
        "--by-relation",
        action="store_true",
        help="count what checkpoints write by table and index, too (its CPU is in the figures)",
    )


def fill_defaults(arguments):
    """Fills in the options that were not given."""
    arguments.items = arguments.items or (500 if arguments.quick else 20000)
    arguments.hours = arguments.hours or (3 if arguments.quick else 24)
    if arguments.tail_hours is None:
        arguments.tail_hours = 1 if arguments.quick else 3
    arguments.part_minutes = math.gcd(arguments.checkpoint_minutes, arguments.maintenance_minutes)
    arguments.stores = names_of(arguments, DEFAULT_STORES)


def settings_of(arguments):
    """Settings beside the common ones: checkpoints only on request, autovacuum at the speed of
    the day.

    One look per second is one in some simulated minutes.  Autovacuum must not sleep between pages,
    or it would need simulated hours for what takes minutes.  New WAL segments are not zeroed,
    because a server that has run for long reuses old ones.
    """
    kept = max(1024, LOG_KEPT * arguments.items * 60 // 2**20)
    return {
        "checkpoint_timeout": "1d",
        "wal_keep_size": "%dMB" % kept,
        "wal_init_zero": "off",
        "wal_compression": arguments.wal_compression,
        "autovacuum": arguments.autovacuum,
        "autovacuum_naptime": "1s",
        "autovacuum_vacuum_cost_delay": "0",
    }


def period_of(arguments):
    """The simulated day, as far as it has values."""
    day = periods.day(periods.today())
    return day._replace(stop=day.start + arguments.hours * HOUR)


def load_of(arguments):
    """The stream of the day."""
    return drivers.Load(
        BATCH,
        arguments.connections,
        arguments.items * 60 * arguments.hours,
        0,
        period_of(arguments).start,
        items=arguments.items,
        step=MINUTE,
    )


class Upkeep:
    """Runs maintenance beside the stream.  If a run takes too long, the stream waits."""

    def __init__(self, upkeep):
        self.upkeep = upkeep
        self.executor = concurrent.futures.ThreadPoolExecutor(1)
        self.pending = None
        self.seconds = 0.0
        self.waited = 0.0

    def _run(self):
        started = time.time()
        self.upkeep.maintain()
        self.seconds += time.time() - started

    def start(self):
        """Begins a run."""
        self.pending = self.executor.submit(self._run)

    def join(self):
        """Waits until the run is done; raises its errors."""
        if self.pending is None:
            return
        started = time.time()
        self.pending.result()
        self.waited += time.time() - started
        self.pending = None

    def forget(self):
        """Seconds that maintenance ran, and that the stream waited, since the last call."""
        found = {"maintenance_seconds": self.seconds, "waited_seconds": self.waited}
        self.seconds = self.waited = 0.0
        return found

    def close(self):
        """Closes the connection."""
        self.executor.shutdown()


class Day:
    """One store's day.

    hours: the costs of each hour; disk: (hours, bytes) after each part of an hour
    """

    def __init__(self, store, clock, arguments, progress):
        self.store = store
        self.clock = clock
        self.arguments = arguments
        self.progress = progress
        self.load = load_of(arguments)
        self.period = period_of(arguments)
        self.upkeep = Upkeep(upkeep_of(store, clock))
        self.costs = None
        self.dirty = None
        self.empty_disk = 0
        self.disk = []
        self.midnight_disk = 0  # after the maintenance of 24:00
        self.hours = []
        self.spans = []

    def disk_bytes(self):
        """Bytes that the store has added to the data directory."""
        return self.costs.disk_bytes() - self.empty_disk

    def prepare(self):
        """Makes the store, empty, and sets the clock to midnight."""
        self.clock.set(self.period.start)
        if self.store.is_postgres:
            self.store.cluster.restart()
        else:
            self.store.start_server()
        self.costs = costs_of(self.store)
        self.empty_disk = self.costs.disk_bytes()
        self.store.create((TABLE,), periods.days(0, 1))
        self.upkeep.start()
        self.upkeep.join()
        self.upkeep.forget()
        if self.arguments.by_relation and self.store.is_postgres:
            self.dirty = DirtyPages(self.store)

    def checkpoint(self):
        """Makes a checkpoint; before it, counts the dirty pages if that was asked for."""
        if self.dirty is not None:
            self.dirty.count()
        self.costs.checkpoint()

    def dirty_pages(self):
        """Pages that checkpoints have written since the last call, by kind of relation."""
        return {} if self.dirty is None else {"dirty_pages": self.dirty.forget()}

    def run(self):
        """Runs the day, and maintenance after it."""
        handle, path = tempfile.mkstemp(suffix=".csv")
        os.close(handle)
        loader = drivers.LoaderProcess(
            self.store.loader_arguments()
            + drivers.stream_arguments(self.load)
            + [
                "--connections=%d" % self.load.connections,
                "--values=%d" % self.load.values,
                "--rate=%g" % self.arguments.rate,
                "--csv=" + path,
                "--handshake",
                "--pause-passes=%d" % self.arguments.part_minutes,
            ]
        )
        try:
            self.costs.watch(loader.event("ready")["pids"])
            self.costs.checkpoint()
            result = self._stream(loader)
            self.costs.forget()
            loader.finish()
            return self._figures(result, drivers.read_statements(path))
        finally:
            loader.kill()
            os.unlink(path)
            self.upkeep.close()

    def _stream(self, loader):
        """Runs all parts of the day; returns the loader's result."""
        parts = self.arguments.hours * 60 // self.arguments.part_minutes
        before, began, result = self.costs.reading(), time.time(), None
        for part in range(parts):
            self._begin_part(part * self.arguments.part_minutes)
            loader.go_on()
            result = loader.event("pause" if part < parts - 1 else "done")
            minute = (part + 1) * self.arguments.part_minutes
            self._end_part(minute)
            if minute % 60 == 0:
                before, began = self._end_hour(before, began), time.time()
        return result

    def _begin_part(self, minute):
        """Starts maintenance when its timer says so; it runs beside the stream."""
        self.clock.set(self.period.start + minute * MINUTE)
        if minute % self.arguments.maintenance_minutes == 0:
            self.upkeep.start()

    def _end_part(self, minute):
        """Waits for maintenance before its next run is due, and makes a checkpoint."""
        if minute % self.arguments.maintenance_minutes == 0:
            self.upkeep.join()
        if minute % self.arguments.checkpoint_minutes == 0:
            self.checkpoint()
        self.disk.append((minute / 60, self.disk_bytes()))

    def _end_hour(self, before, began):
        """Notes the costs of an hour since a reading; returns the next reading."""
        after = self.costs.reading()
        self.hours.append(
            dict(
                self.costs.between(before, after),
                store=self.store.name,
                hour=len(self.hours),
                values=self.load.items * 60,
                disk_bytes=self.disk[-1][1],
                **self.dirty_pages(),
                **self.upkeep.forget(),
            )
        )
        self.spans.append({"from": began, "to": time.time()})
        self.progress.step()
        self.progress.show("%s, %d:00" % (self.store.name, len(self.hours)))
        return after

    def _maintain_at(self, moment):
        """Sets the clock, runs maintenance alone, and makes a checkpoint."""
        self.clock.set(moment)
        self.upkeep.start()
        self.upkeep.join()
        self.checkpoint()

    def _end_day(self):
        """Runs maintenance after the last value until it has packed all of the day.

        The clock jumps to the times at which something is due.
        """
        minutes = self.arguments.tail_hours * 60 + 1
        for minute in range(0, minutes, self.arguments.maintenance_minutes):
            self._maintain_at(self.period.stop + minute * MINUTE)
            if minute == 0:
                self.midnight_disk = self.disk_bytes()
        for _ in range(MAX_RUNS):
            due = self.upkeep.upkeep.due(self.period)
            if due is None:
                break
            self._maintain_at(max(due, self.clock.moment))
        self.upkeep.upkeep.close(self.period)
        self.checkpoint()

    def _figures(self, result, statements):
        """The totals of the day, and the costs after the last value."""
        for hour, span in zip(self.hours, self.spans):
            hour["latency_ms"] = latencies(statements, span)["latency_ms"]
        figures = {
            key: result[key] for key in ("values", "seconds", "failed", "lost", "duplicates")
        }
        figures.update(
            disk=self.disk,
            disk_bytes=self.disk_bytes(),
            state=self.upkeep.upkeep.state(self.period),
            latency_ms=latencies(
                statements, {"from": self.spans[0]["from"], "to": self.spans[-1]["to"]}
            )["latency_ms"],
        )
        before = self.costs.reading()
        self._end_day()
        figures.update(
            tail=dict(
                self.costs.between(before, self.costs.reading()),
                **self.dirty_pages(),
                **self.upkeep.forget(),
            ),
            midnight_disk_bytes=self.midnight_disk,
            settled_disk_bytes=self.disk_bytes(),
            settled_state=self.upkeep.upkeep.state(self.period),
        )
        return figures

    def close(self):
        """Disconnects."""
        for counters in (self.costs, self.dirty):
            if counters is not None:
                counters.close()


class Verification:
    """Every store must return all rows of every item as they were sent."""

    def __init__(self, arguments):
        self.values_of_item = arguments.hours * 60
        load = load_of(arguments)
        self.expected = drivers.stream_digest(load, load.values)

    def problems(self, store, figures):
        """What is wrong with a store, in sentences."""
        found = []
        if figures["failed"] or figures["lost"] or figures["duplicates"]:
            found.append(
                "%s: failed statements %s, values lost %d, duplicates %d"
                % (store.name, figures["failed"], figures["lost"], figures["duplicates"])
            )
        digest = drivers.read_back(store, "float")
        if digest != self.expected:
            found.append(
                "%s: %d rows, checksum %s instead of %d, %s"
                % (
                    store.name,
                    digest["rows"],
                    digest["checksum"],
                    self.expected["rows"],
                    self.expected["checksum"],
                )
            )
        items = int(
            store.execute(
                "SELECT count(*) FROM (SELECT itemid FROM %s GROUP BY itemid "
                "HAVING count(*) <> %d) other" % (TABLE, self.values_of_item)
            )[0][0]
        )
        if items:
            found.append(
                "%s: %d items with more or fewer than %d values"
                % (store.name, items, self.values_of_item)
            )
        return found + store.check()


def run_store(store, clock, arguments, progress, verification):
    """Runs one store's day from its creation to its end; returns figures, hours and
    problems."""
    if not store.is_postgres and not hasattr(store, "server_class"):
        raise drivers.Failed("the counters of %s are not known" % store.name)
    day = Day(store, clock, arguments, progress)
    try:
        day.prepare()
        figures = day.run()
        progress.show(store.name + ", reading all rows back")
        problems = verification.problems(store, figures)
    finally:
        day.close()
    store.drop()
    return figures, day.hours, problems


def run(arguments):
    """Runs the experiment."""
    fill_defaults(arguments)
    with SimulatedClock(arguments.data_directory) as clock:
        clock.set(period_of(arguments).start)
        with bench(arguments, arguments.stores, clock=clock, **settings_of(arguments)) as own:
            verification = Verification(arguments)
            progress = Progress(len(own.stores) * arguments.hours, NAME)
            figures, hours, problems = {}, [], []
            for store in own.stores:
                progress.show(store.name)
                figures[store.name], parts, wrong = run_store(
                    store, clock, arguments, progress, verification
                )
                hours += parts
                problems += wrong
            progress.finish()
            summary = summarize(figures, hours)
            return own.conclude(
                NAME,
                {
                    "items": arguments.items,
                    "hours": arguments.hours,
                    "checkpoint_minutes": arguments.checkpoint_minutes,
                    "maintenance_minutes": arguments.maintenance_minutes,
                    "connections": arguments.connections,
                    "rate": arguments.rate,
                    "tail_hours": arguments.tail_hours,
                    "summary": summary,
                    "stores": [dict(entry, store=name) for name, entry in figures.items()],
                    "runs": hours,
                },
                problems,
                show,
                draw,
            )
