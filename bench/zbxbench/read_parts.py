"""The measurements of the read experiment, each over all series of an installation.

A measurement is a dict: which part, size, series and question it belongs to,
its round, and the latencies of its queries in seconds.  All series of a round
are asked for the same items, interleaved or shuffled.
"""

import json
import random
import time

from . import drivers, libpq, periods
from .read_data import FIRST_ITEMID, HOUR, RECENT, TABLE

NEWEST = 2  # rows of an item, as the frontend asks for
LATEST_ITEMS = 1000  # items of a page of "Latest data"
NOBODY = FIRST_ITEMID - 1


class Question:
    """Something to ask of an item; name is its key in results."""

    def __init__(self, name, ask):
        self.name = name
        self.ask = ask  # (reader, item, now) -> rows


def days_question(days):
    """All values of the last days."""
    return Question(
        "%d days" % days,
        lambda reader, item, now: reader.range(TABLE, item, now - days * periods.DAY, now),
    )


def packed_question(days):
    """Whole rows of past days: none of today's."""
    return Question(
        "%d packed days" % days,
        lambda reader, item, now: reader.history(
            TABLE, item, now - RECENT - days * periods.DAY, now - RECENT
        ),
    )


def aggregate_question(days):
    """Count, extremes and average of the last days."""
    return Question(
        "aggregate of %d days" % days,
        lambda reader, item, now: reader.aggregate(TABLE, item, now - days * periods.DAY, now),
    )


HOUR_QUESTION = Question(
    "hour", lambda reader, item, now: reader.range(TABLE, item, now - HOUR, now)
)
NEWEST_QUESTION = Question(
    "newest %d" % NEWEST, lambda reader, item, now: reader.newest(TABLE, item, NEWEST, now)
)
LATEST_QUESTION = Question(
    "latest", lambda reader, items, now: reader.latest(TABLE, items, now - periods.DAY)
)


class Answers:
    """What was answered: the same by every series, or it is a problem."""

    def __init__(self):
        self.known = {}
        self.problems = []

    def note(self, series, key, answer):
        """Compares an answer with that of the series which came first."""
        name, expected = self.known.setdefault(key, (series.key, answer))
        if answer != expected:
            self.problems.append(
                "%s: %s: %s instead of %s as by %s" % (series.key, key, answer, expected, name)
            )


class Asker:
    """Asks and times; every answer's number of rows is compared."""

    def __init__(self, installation, answers):
        self.installation = installation
        self.answers = answers

    def ask(self, series, reader, question, item):
        """Seconds and rows of one query."""
        started = time.perf_counter()
        rows = question.ask(reader, item, self.installation.now)
        seconds = time.perf_counter() - started
        self.answers.note(
            series, (self.installation.size.items, question.name, str(item)[:40]), len(rows)
        )
        return seconds, len(rows)

    def slice(self, series, reader, question, items, seconds):
        """As many queries as fit into the time, three at least."""
        latencies, rows = [], 0
        cpu = reader.server_cpu()
        end = time.perf_counter() + seconds
        for item in items:
            taken, count = self.ask(series, reader, question, item)
            latencies.append(taken)
            rows += count
            if len(latencies) >= 3 and time.perf_counter() > end:
                break
        return {
            "latencies": latencies,
            "rows": rows,
            "cpu_seconds": None if cpu is None else reader.server_cpu() - cpu,
        }

    def describe(self, measurement, part, series, question, **more):
        """Adds what the measurement is of."""
        return dict(
            measurement,
            part=part,
            items=self.installation.size.items,
            series=series.key,
            question=question.name,
            **more,
        )


def warm_up(series, installation):
    """A kept connection that has asked everything once."""
    reader = series.open()
    for question in (HOUR_QUESTION, NEWEST_QUESTION, days_question(1), aggregate_question(1)):
        question.ask(reader, FIRST_ITEMID, installation.now)
    return reader


def some_items(installation, *seed):
    """Random items, the same for the same seed."""
    chooser = random.Random(repr((installation.size.items,) + seed))
    return [installation.item(chooser) for _ in range(5000)]


# ---- by duration: 10, 20, ... days ----


def ask_in_slices(asker, readers, questions, round_number, seconds, part, **more):
    """Every question of every series, for a slice of time each."""
    installation = asker.installation
    order = random.Random(round_number)
    found = []
    for question in order.sample(questions, len(questions)):
        items = some_items(installation, question.name, round_number)
        for series in order.sample(list(readers), len(readers)):
            measured = asker.slice(series, readers[series], question, items, seconds)
            found.append(
                asker.describe(measured, part, series, question, round=round_number, **more)
            )
    return found


def durations(asker, questions, rounds, seconds):
    """Without a concurrent load."""
    readers = {series: warm_up(series, asker.installation) for series in asker.installation.series}
    found = []
    for round_number in range(rounds):
        found += ask_in_slices(
            asker, readers, questions, round_number, seconds, "durations", writes=False
        )
    for reader in readers.values():
        reader.close()
    return found


class Writes:
    """The loader writes newer values of all items at a fixed rate, meanwhile."""

    def __init__(self, store, installation, rate, first_pass):
        # a pass a second: simulated time stays within the day however few the items
        load = drivers.Load(
            "loader",
            1000,
            1,
            0,
            1000,
            installation.now,
            step=1,
            items=installation.size.items,
            first_pass=first_pass,
        )
        self.loader = drivers.LoaderProcess(
            store.loader_arguments()
            + drivers.stream_arguments(load)
            + [
                "--connections=1",
                "--seconds=86400",
                "--rate=%g" % rate,
                "--warmup=1000",
                "--handshake",
            ]
        )

    def __enter__(self):
        self.loader.event("ready")
        self.loader.go_on()
        time.sleep(0.2)
        return self

    def __exit__(self, *exception):
        try:
            self.loader.process.terminate()
            if exception[0] is None:
                result = self.loader.event("done")
                self.loader.finish()
                if result["failed"]:
                    raise drivers.Failed("loader: failed statements %s" % result["failed"])
        finally:
            self.loader.kill()


def passes_of(rate, seconds, installation):
    """Passes over the items that the loader may make in the time, generously."""
    return int(rate * seconds * 2 / installation.size.items) + 60


def durations_with_writes(asker, questions, rounds, seconds, rate):
    """The same while values of today come in, store by store."""
    installation = asker.installation
    found = []
    first_pass = 0
    for round_number in range(rounds):
        for store in random.Random(round_number).sample(
            installation.stores, len(installation.stores)
        ):
            with Writes(store, installation, rate, first_pass):
                readers = {
                    series: warm_up(series, installation)
                    for series in installation.series
                    if series.store is store
                }
                found += ask_in_slices(
                    asker, readers, questions, round_number, seconds, "durations", writes=True
                )
                for reader in readers.values():
                    reader.close()
        # no item gets two values of one moment
        first_pass += passes_of(rate, 60 + len(questions) * seconds * 10, installation)
    return found


def packed(asker, stores, questions, rounds, seconds):
    """Past days of some stores."""
    readers = {
        series: warm_up(series, asker.installation)
        for series in asker.installation.series
        if series.store.name in stores
    }
    found = []
    for round_number in range(rounds):
        found += ask_in_slices(asker, readers, questions, round_number, seconds, "packed")
    for reader in readers.values():
        reader.close()
    return found


# ---- short questions, over kept and fresh connections ----


def ask_fresh(asker, series, question, item):
    """Connects, asks, disconnects."""
    started = time.perf_counter()
    reader = series.open()
    connected = time.perf_counter() - started
    seconds, _ = asker.ask(series, reader, question, item)
    reader.close()
    return connected, seconds


def short_round(asker, readers, question, round_number, counts):
    """One question of all series, item by item; kept and fresh connections."""
    latencies = {
        series: {"kept": [], "connect": [], "first": [], "fresh": []} for series in readers
    }
    order = random.Random(round_number)
    items = some_items(asker.installation, "short", question.name, round_number)
    for item in items[: counts[0]]:
        for series in order.sample(list(readers), len(readers)):
            latencies[series]["kept"].append(asker.ask(series, readers[series], question, item)[0])
    for item in items[: counts[1]]:
        for series in order.sample(list(readers), len(readers)):
            connected, seconds = ask_fresh(asker, series, question, item)
            latencies[series]["connect"].append(connected)
            latencies[series]["first"].append(seconds)
            latencies[series]["fresh"].append(connected + seconds)
            time.sleep(0.003)  # the last backend ends
    return [
        asker.describe(
            {"latencies": values}, "short", series, question, connection=kind, round=round_number
        )
        for series, kinds in latencies.items()
        for kind, values in kinds.items()
    ]


def short(asker, rounds, counts):
    """The last hour and the newest values; counts: queries a round, kept and fresh."""
    readers = {series: warm_up(series, asker.installation) for series in asker.installation.series}
    found = [
        measurement
        for round_number in range(rounds)
        for question in (HOUR_QUESTION, NEWEST_QUESTION)
        for measurement in short_round(asker, readers, question, round_number, counts)
    ]
    for reader in readers.values():
        reader.close()
    return found


def latest(asker, rounds):
    """The newest value of each of many items."""
    installation = asker.installation
    readers = {series: warm_up(series, installation) for series in installation.series}
    found = []
    for round_number in range(-1, rounds):
        chooser = random.Random(round_number)
        items = installation.items(chooser, LATEST_ITEMS)
        for series in chooser.sample(list(readers), len(readers)):
            seconds, rows = asker.ask(series, readers[series], LATEST_QUESTION, items)
            if round_number >= 0:  # the one before warms up
                found.append(
                    asker.describe(
                        {"latencies": [seconds], "rows": rows},
                        "latest",
                        series,
                        LATEST_QUESTION,
                        round=round_number,
                    )
                )
    for reader in readers.values():
        reader.close()
    return found


# ---- statements that are compared ----


def compared(asker, part, rounds, statements):
    """SQL by question, which statements makes of a connection and a round, of all stores.

    The round before the first one warms up.
    """
    installation = asker.installation
    series = [each for each in installation.series if each.way == "sql" and each.store.is_postgres]
    kept = {each: libpq.Connection(each.store.dsn()) for each in series}
    found = []
    for round_number in range(-1, rounds):
        for name, text in statements(kept[series[0]], round_number).items():
            for each in random.Random(round_number).sample(series, len(series)):
                started = time.perf_counter()
                rows = kept[each].execute(text)
                seconds = time.perf_counter() - started
                key = (part, installation.size.items, name, round_number)
                asker.answers.note(each, key, (len(rows), hash(tuple(sorted(map(tuple, rows))))))
                if round_number >= 0:
                    measured = {"latencies": [seconds], "rows": len(rows)}
                    question = Question(name, None)
                    found.append(asker.describe(measured, part, each, question, round=round_number))
    for connection in kept.values():
        connection.close()
    return found


# ---- cold caches ----


def cold(cluster, askers, questions, rounds, part="cold", stores=None):
    """One query of each series, or those of some stores, in PostgreSQL after a restart without any cached file.

    Series of one store share files: each of its ways gets a restart of its own.
    The query for an item that does not exist comes first: it brings in the
    catalogs and the indexes' upper pages, which a server that runs always has.
    """
    found = []
    for round_number in range(rounds):
        for question in questions:
            for way in ("sql", "functions"):
                cluster.restart(cold=True)
                for asker in askers:
                    chosen = [
                        series
                        for series in asker.installation.series
                        if series.way == way
                        and series.store.is_postgres
                        and (stores is None or series.store.name in stores)
                    ]
                    found += cold_queries(asker, chosen, question, round_number, part)
    return found


def cold_queries(asker, chosen, question, round_number, part):
    """The one query of all those series."""
    found = []
    item = some_items(asker.installation, "cold", question.name, round_number)[0]
    order = random.Random(round_number)
    for series in order.sample(chosen, len(chosen)):
        reader = series.open()
        question.ask(reader, NOBODY, asker.installation.now)
        seconds, rows = asker.ask(series, reader, question, item)
        reader.close()
        found.append(
            asker.describe(
                {"latencies": [seconds], "rows": rows}, part, series, question, round=round_number
            )
        )
    return found


# ---- planning ----


def zabbix_selects(item, now):
    """The shapes which Zabbix's server and frontend send most, by name."""
    return {
        "value cache, range": "select clock,ns,value from history where itemid=%d and clock>%d and clock<=%d"
        % (item, now - HOUR, now),
        "value cache, last values": "select clock,ns,value from history where itemid=%d and clock<=%d and clock>%d "
        "order by clock desc limit 2" % (item, now, now - periods.DAY),
        "value cache, last values, unbounded": "select clock,ns,value from history where itemid=%d and clock<=%d "
        "order by clock desc limit 2" % (item, now),
        "frontend, last value": "SELECT * FROM history h WHERE h.itemid='%d' AND h.clock>%d ORDER BY h.clock DESC,"
        "h.ns DESC LIMIT 1" % (item, now - periods.DAY),
        "frontend, graph of 30 days": "SELECT itemid,COUNT(*) AS count,AVG(value) AS avg,MIN(value) AS min,MAX(value) AS "
        "max,round(900.0*(clock-{f})/{p},0) AS i,MAX(clock) AS clock FROM history WHERE "
        "itemid='{i}' AND clock>='{f}' AND clock<='{e}' GROUP BY itemid,"
        "round(900.0*(clock-{f})/{p},0) ORDER BY itemid,i".format(
            i=item, f=now - 30 * periods.DAY, e=now, p=30 * periods.DAY
        ),
        "frontend, all of an item": "SELECT h.* FROM history h WHERE h.itemid='%d' ORDER BY h.clock DESC LIMIT 100"
        % item,
    }


def planning_ms(connection, text):
    """What EXPLAIN says."""
    rows = connection.execute("EXPLAIN (SUMMARY, FORMAT JSON) " + text)
    return json.loads(rows[0][0])[0]["Planning Time"]


def planning(installation, rounds):
    """Planning time of Zabbix's SELECTs, over a kept connection and as its first."""
    stores = [store for store in installation.stores if store.is_postgres]
    kept = {store: libpq.Connection(store.dsn()) for store in stores}
    found = []
    for round_number in range(-1, rounds):
        for name, text in zabbix_selects(FIRST_ITEMID, installation.now).items():
            for store in random.Random(round_number).sample(stores, len(stores)):
                fresh = libpq.Connection(store.dsn())
                times = {"kept": planning_ms(kept[store], text), "fresh": planning_ms(fresh, text)}
                fresh.close()
                if round_number >= 0:  # the one before warms up
                    found += [
                        {
                            "part": "planning",
                            "series": store.name,
                            "question": name,
                            "connection": kind,
                            "round": round_number,
                            "latencies": [milliseconds / 1e3],
                        }
                        for kind, milliseconds in times.items()
                    ]
    for connection in kept.values():
        connection.close()
    return found


# ---- contents ----


def _number(value):
    """A value as all stores and ways agree on it."""
    return None if value is None else float("%.12g" % float(value))


def _comparable(rows):
    """Rows whatever their order and the client's types."""
    return hash(tuple(sorted(tuple(_number(value) for value in row) for row in rows)))


def compare_contents(asker, days):
    """The rows themselves, of one item for so many days, and those of other questions."""
    installation = asker.installation
    item = some_items(installation, "contents")[0]
    days = min(days, max(1, 20000 * installation.size.step // periods.DAY))
    questions = (days_question(days), aggregate_question(days), HOUR_QUESTION, NEWEST_QUESTION)
    for series in installation.series:
        reader = series.open()
        for question in questions:
            rows = question.ask(reader, item, installation.now)
            asker.answers.note(
                series,
                ("contents", installation.size.items, question.name),
                (len(rows), _comparable(rows)),
            )
        items = installation.items(random.Random(1), 50)
        rows = LATEST_QUESTION.ask(reader, items, installation.now)
        asker.answers.note(
            series, ("contents", installation.size.items, "latest"), (len(rows), _comparable(rows))
        )
        reader.close()


def compare_counts(asker):
    """Every store holds all rows."""
    installation = asker.installation
    for store in installation.stores:
        rows = store.rows(TABLE)
        if rows != installation.rows:
            asker.answers.problems.append(
                "%s, %s: %d rows instead of %d"
                % (store.name, installation.size.label, rows, installation.rows)
            )
        asker.answers.problems.extend(store.check())
