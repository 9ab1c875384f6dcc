"""The maintenance experiment: what a history syncer feels while partitions come and go.

An open-loop stream of 1000-row inserts below saturation, first undisturbed,
then during each action.  Latencies count from when a statement is sent, the
delay from when its batch was due to its commit: a stall cannot hide behind a
loader that waits for it.
"""

import threading
import time

from . import drivers, periods, plots, results
from .cluster import SUPERUSER
from .experiment import bench
from .progress import Progress
from .stores import STORES
from .stream import Stream, latencies

NAME = "maintenance"
HELP = "ingest latency while partitions are made, rows moved, and a day dropped under a reader"

DEFAULT_STORES = ["zbxhist", "native"]
TARGET = 2.0

ITEMS = 30000
FIRST_ITEMID = 100000
BATCH = 1000
STEP = 20  # simulated seconds a pass
SECOND_SESSION_PASS = 2000  # where the stream goes on after the pause
WAITING_DAY, EXPIRED_DAY, KEPT_DAYS = -2, -5, 4


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument(
        "--stores",
        default=",".join(DEFAULT_STORES),
        help="of zbxhist, native, partman (default: %(default)s)",
    )
    parser.add_argument(
        "--rate",
        type=float,
        default=20000,
        metavar="N",
        help="values offered per second (default: %(default)g)",
    )
    parser.add_argument("--connections", type=int, default=2, help="(default: %(default)s)")
    parser.add_argument(
        "--seconds",
        type=float,
        help="of each undisturbed stage, of premaking, and of the reader "
        "(default: 60, the reader 20; --quick: 6 and 3)",
    )
    parser.add_argument(
        "--move-rows", type=int, help="rows to move (default: 10 million; --quick: 200,000)"
    )
    parser.add_argument(
        "--drop-rows",
        type=int,
        help="rows of the day to drop (default: 20 million; --quick: 500,000)",
    )


def fill_defaults(arguments):
    """What was not given, by form."""
    quick = arguments.quick
    arguments.hold = min(arguments.seconds or 20, 20) if not quick else 3
    arguments.seconds = arguments.seconds or (6 if quick else 60)
    arguments.move_rows = arguments.move_rows or (200000 if quick else 10000000)
    arguments.drop_rows = arguments.drop_rows or (500000 if quick else 20000000)
    arguments.stores = arguments.stores.split(",")


class Actions:
    """What a store's maintenance consists of; the experiment decides when."""

    def __init__(self, store):
        self.store = store
        self.ahead = 3
        self.log = []

    def premake(self):
        """One partition more."""
        raise NotImplementedError

    def expire(self):
        """Makes the expired day one that maintenance drops."""

    def drop(self):
        """One attempt to drop the expired day; True when it is gone."""
        raise NotImplementedError

    def drop_seconds(self):
        """How long the drop itself took, and how long it waited for its lock."""
        return None

    def can_move(self):
        """Whether rows can wait outside the partitions, and be moved."""
        return False

    def day_exists(self):
        """Whether the expired day's table is still there."""
        name = "public.history_" + periods.days(EXPIRED_DAY, EXPIRED_DAY)[0].suffix
        return self.store.execute("SELECT to_regclass('%s') IS NOT NULL" % name)[0][0]


class ZbxhistActions(Actions):
    """CALL zbxhist.run_maintenance() for everything."""

    def maintain(self):
        """The one call for cron."""
        self.store.execute("CALL zbxhist.run_maintenance('history')")

    def premake(self):
        self.ahead += 1
        self.store.execute("SELECT zbxhist.alter_parent('history', premake => %d)" % self.ahead)
        self.maintain()

    def expire(self):
        self.store.execute(
            "SELECT zbxhist.alter_parent('history', retention => '%d days')" % KEPT_DAYS
        )

    def drop(self):
        self.maintain()
        return not self.day_exists()

    def drop_seconds(self):
        rows = self.store.execute(
            "SELECT extract(epoch FROM duration)::float, extract(epoch FROM lock_wait)::float "
            "FROM zbxhist.maintenance_log WHERE action = 'drop' AND sqlstate IS NULL "
            "ORDER BY id DESC LIMIT 1"
        )
        return dict(zip(("seconds", "lock_wait_seconds"), rows[0])) if rows else None

    def can_move(self):
        return True

    def make_waiting(self, rows):
        """Rows of a day without a partition, which then gets one."""
        day = periods.days(WAITING_DAY, WAITING_DAY)[0]
        load = drivers.Load("loader", BATCH, 1, rows, 0, day.start, items=ITEMS, step=STEP)
        drivers.copy_stream(self.store, "history", load, "-c session_replication_role=replica")
        self.store.execute("VACUUM (FREEZE, ANALYZE) history", SUPERUSER)
        self.store.partition("history", day)

    def waiting(self):
        """Rows that are still outside the partitions."""
        return self.store.execute("SELECT count(*) FROM ONLY history")[0][0]

    def move(self):
        """Moves all of them; returns when none is left."""
        self.maintain()


class NativeActions(Actions):
    """What scripts do: CREATE TABLE PARTITION OF, DROP TABLE."""

    def premake(self):
        self.ahead += 1
        self.store.add_partition("history", periods.days(self.ahead, self.ahead)[0])

    def drop(self):
        started = time.time()
        self.store.execute("DROP TABLE history_" + periods.days(EXPIRED_DAY, EXPIRED_DAY)[0].suffix)
        self.log.append(time.time() - started)
        return True

    def drop_seconds(self):
        return {"seconds": self.log[-1], "lock_wait_seconds": None} if self.log else None


class PartmanActions(Actions):
    """partman.run_maintenance, as its background worker calls it."""

    def premake(self):
        self.ahead += 1
        self.store.execute("UPDATE partman.part_config SET premake = %d" % (self.ahead + 1))
        self.store.execute("SELECT partman.run_maintenance('public.history', false)")

    def expire(self):
        self.store.execute(
            "UPDATE partman.part_config SET retention = '%d days', "
            "retention_keep_table = false" % KEPT_DAYS
        )

    def drop(self):
        started = time.time()
        self.store.execute("SELECT partman.run_maintenance('public.history', false)")
        self.log.append(time.time() - started)
        return True

    def drop_seconds(self):
        return {"seconds": self.log[-1], "lock_wait_seconds": None} if self.log else None


ACTIONS_OF = {"zbxhist": ZbxhistActions, "native": NativeActions, "partman": PartmanActions}


class Reader:
    """A session that has read the expired day and keeps its snapshot."""

    def __init__(self, store):
        day = periods.days(EXPIRED_DAY, EXPIRED_DAY)[0]
        self.connection = store.connect()
        with self.connection.cursor() as cursor:
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            cursor.execute(
                "SELECT count(*) FROM history WHERE itemid = %d AND clock >= %d "
                "AND clock < %d" % (FIRST_ITEMID, day.start, day.stop)
            )
            self.rows = cursor.fetchone()[0]

    def close(self):
        """Lets go."""
        self.connection.close()


def undisturbed(actions, arguments):
    """Nothing but the stream."""
    del actions
    time.sleep(arguments.seconds)
    return {}


def premake(actions, arguments):
    """A partition a second."""
    made = 0
    end = time.time() + arguments.seconds
    while time.time() < end:
        actions.premake()
        made += 1
        time.sleep(1)
    return {"partitions": made}


def drop(actions, arguments):
    """Attempts to drop the day, from while a reader holds it until it is gone."""
    reader = Reader(actions.store)
    release = threading.Timer(arguments.hold, reader.close)
    release.start()
    started = time.time()
    actions.expire()
    attempts = 1
    while not actions.drop():
        attempts += 1
        time.sleep(0.5)
    seconds = time.time() - started
    release.join()
    return {
        "attempts": attempts,
        "seconds_until_gone": seconds,
        "reader_seconds": arguments.hold,
        "reader_rows": reader.rows,
        "drop": actions.drop_seconds(),
    }


def move(actions, arguments):
    """All waiting rows into their partition."""
    del arguments
    before = actions.waiting()
    started = time.time()
    actions.move()
    return {
        "rows": before - actions.waiting(),
        "left": actions.waiting(),
        "seconds": time.time() - started,
    }


def run_stages(actions, arguments, stages, first_pass, progress):
    """One session of the stream, stage after stage; statements are cut by time."""
    stream = Stream(
        actions.store,
        arguments.rate,
        arguments.connections,
        drivers.Load(
            "loader",
            BATCH,
            arguments.connections,
            0,
            ITEMS,
            periods.clock(periods.today()),
            items=ITEMS,
            step=STEP,
            first_pass=first_pass,
        ),
    )
    try:
        time.sleep(1)
        spans = []
        for name, stage in stages:
            progress.show(name)
            started = time.time()
            detail = stage(actions, arguments)
            spans.append({"stage": name, "from": started, "to": time.time(), "detail": detail})
            progress.step()
        result, statements = stream.stop()
    finally:
        stream.close()
    for span in spans:
        span.update(latencies(statements, span))
    return {
        "stages": spans,
        "statements": statements,
        "values": result["values"],
        "failed": result["failed"],
        "lost": result["lost"],
    }


def fill(store, arguments):
    """The day that will be dropped, and a vacuumed start for everybody."""
    expired = periods.days(EXPIRED_DAY, EXPIRED_DAY)[0]
    rows = arguments.drop_rows
    load = drivers.Load(
        "loader",
        BATCH,
        1,
        rows,
        0,
        expired.start,
        items=ITEMS,
        step=max(1, min(60, periods.DAY * ITEMS // rows)),
    )
    drivers.copy_stream(store, store.partition("history", expired), load)
    store.settle()


def run_store(store, arguments):
    """Both sessions of one store: partitions come and go; then rows are moved."""
    days = [
        day
        for day in periods.days(EXPIRED_DAY, 3)
        if day != periods.days(WAITING_DAY, WAITING_DAY)[0] or store.name != "zbxhist"
    ]
    store.create(("history",), days)
    actions = ACTIONS_OF[store.name](store)
    progress = Progress(8 if actions.can_move() else 4, "%s, %s" % (NAME, store.name))
    progress.show("filling a day of %d rows" % arguments.drop_rows)
    fill(store, arguments)
    progress.step()
    sessions = [
        run_stages(
            actions,
            arguments,
            (("undisturbed", undisturbed), ("premake", premake), ("drop under a reader", drop)),
            0,
            progress,
        )
    ]
    if actions.can_move():
        progress.show("%d rows into the parent" % arguments.move_rows)
        actions.make_waiting(arguments.move_rows)
        progress.step()
        sessions.append(
            run_stages(
                actions,
                arguments,
                (("rows waiting", undisturbed), ("move", move), ("after the move", undisturbed)),
                SECOND_SESSION_PASS,
                progress,
            )
        )
    progress.finish()
    problems = verify(store, sessions, arguments)
    store.drop()
    return sessions, problems


def verify(store, sessions, arguments):
    """No insert failed, no row is missing."""
    problems = []
    expected = sum(session["values"] for session in sessions) + len(sessions) * ITEMS
    if len(sessions) > 1:
        expected += arguments.move_rows
    for session in sessions:
        if session["failed"] or session["lost"]:
            problems.append(
                "%s: failed inserts %s, values lost %d"
                % (store.name, session["failed"], session["lost"])
            )
    rows = store.rows("history")
    if rows != expected:
        problems.append("%s: %d rows instead of %d" % (store.name, rows, expected))
    return problems + store.check()


def stages_of(sessions):
    """All stages of a store, each with its ratios.

    "p99_ratio" is to the first stage: nothing disturbs, no row waits.
    "p99_ratio_session" is to the first stage of the same session of the
    stream: for the move, rows already wait, but nobody moves them.
    """
    quiet = sessions[0]["stages"][0]["latency_ms"]["p99"]
    for session in sessions:
        first = session["stages"][0]["latency_ms"]["p99"]
        for stage in session["stages"]:
            stage["p99_ratio"] = stage["latency_ms"]["p99"] / quiet
            stage["p99_ratio_session"] = stage["latency_ms"]["p99"] / first
    return [stage for session in sessions for stage in session["stages"]]


def print_table(name, stages):
    """A line a stage."""
    rows = [
        [stage["stage"], stage["statements"]]
        + [results.number(stage["latency_ms"][key], 1) for key in ("p50", "p99", "max")]
        + ["%.2f" % stage["p99_ratio"], "%.2f" % stage["p99_ratio_session"]]
        + [results.number(stage["delay_ms"][key], 1) for key in ("p99", "max")]
        + [detail_text(stage["detail"])]
        for stage in stages
    ]
    print("\n%s: latency of 1000-row inserts, milliseconds" % STORES[name].label)
    print(
        results.table(
            [
                "stage",
                "inserts",
                "p50",
                "p99",
                "max",
                "p99 ratio",
                "in session",
                "delay p99",
                "delay max",
                "what was done",
            ],
            rows,
        )
    )


def detail_text(detail):
    """What a stage did, in words."""
    if "partitions" in detail:
        return "%d partitions made" % detail["partitions"]
    if "rows" in detail:
        return "{rows:,} rows moved in {seconds:.1f} s".format(**detail)
    if "drop" in detail and detail["drop"]:
        wait = detail["drop"]["lock_wait_seconds"]
        return "gone after %.1f s, the drop took %.1f ms%s" % (
            detail["seconds_until_gone"],
            detail["drop"]["seconds"] * 1e3,
            "" if wait is None else " (%.1f ms of it waiting)" % (wait * 1e3),
        )
    return ""


def show(result):
    """The tables of a result."""
    for name, stages in result["summary"].items():
        print_table(name, stages)


def target(stage, key, reference):
    """The project's target for one stage."""
    return {
        "target": "p99 of a 1000-row insert, %s to %s, at most %g"
        % (stage["stage"], reference, TARGET),
        "value": stage[key],
        "met": stage[key] <= TARGET,
    }


def targets(measured):
    """The project's own targets."""
    entries = []
    for stage in measured.get("zbxhist", {}).get("stages", []):
        if stage["stage"] in ("premake", "drop under a reader", "move"):
            entries.append(target(stage, "p99_ratio", "undisturbed"))
        if stage["stage"] == "move":
            entries.append(target(stage, "p99_ratio_session", "rows waiting, none moved"))
    return entries


def draw_measured(measured, stem):
    """Latency over time, a plot a store, stages shaded."""
    for store, entry in measured.items():
        fig, axes = plots.figure()
        offset, drawn = 0.0, 0
        for session in entry["sessions"]:
            offset = draw_session(axes, session, store, offset, drawn)
            drawn += len(session["stages"])
        plots.logarithmic_y(axes)
        axes.set_xlabel("seconds")
        axes.set_ylabel("latency of a 1000-row insert, ms")
        axes.set_title("Ingest during maintenance: " + STORES[store].label, fontsize=10, pad=26)
        plots.save(fig, "%s-%s" % (stem, store))


def draw_session(axes, session, store, offset, drawn):
    """One session's statements, placed after the one before; where the next one goes."""
    start = session["stages"][0]["from"] - offset
    axes.plot(
        [statement["start"] - start for statement in session["statements"]],
        [statement["latency"] for statement in session["statements"]],
        ".",
        markersize=2,
        color=plots.colour(store),
    )
    for number, stage in enumerate(session["stages"], drawn):
        middle = (stage["from"] + stage["to"]) / 2 - start
        axes.axvspan(
            stage["from"] - start,
            stage["to"] - start,
            linewidth=0,
            color="#888888" if number % 2 else "#cccccc",
            alpha=0.25,
        )
        axes.annotate(
            stage["stage"],
            (middle, 1.01 + number % 2 * 0.05),
            xycoords=("data", "axes fraction"),
            ha="center",
            fontsize=7,
        )
    return session["stages"][-1]["to"] - start


def run(arguments):
    """The experiment."""
    fill_defaults(arguments)
    with bench(arguments, arguments.stores, autovacuum="on") as own:
        measured, problems = {}, []
        for store in own.stores:
            sessions, wrong = run_store(store, arguments)
            measured[store.name] = {"sessions": sessions, "stages": stages_of(sessions)}
            problems.extend(wrong)
        return own.conclude(
            NAME,
            {
                "rate": arguments.rate,
                "connections": arguments.connections,
                "move_rows": arguments.move_rows,
                "drop_rows": arguments.drop_rows,
                "targets": targets(measured),
                "summary": {name: entry["stages"] for name, entry in measured.items()},
            },
            problems,
            show,
            lambda _, stem: draw_measured(measured, stem),
        )
