"""The stores of the peers experiment: those in PostgreSQL, and all of them by name."""

import time

from . import libpq
from .peers_base import ABOVE, HOUR, HOURS, NEWEST, TOTAL, Contender, Terms, total_above, where
from .peers_libraries import ClickHouse, ClickHouseAlp, ClickHouseCodecs, DuckDb, Parquet
from .peers_victoria import VictoriaMetrics
from .stores import STORES

POSTGRES_CRASH = "kept; with synchronous_commit off but the last 0.6 s"


class Postgres(Contender):
    """A store of the other experiments."""

    def __init__(self, store, terms):
        self.store = store
        self.NAME, self.LABEL, self.TERMS = store.name, store.label, terms
        self.connection = None
        self.table = None

    def cpu(self):
        return self.store.server_cpu()

    def create(self, data):
        self.table = data.dataset.table
        self.store.create((self.table,), [day.period for day in data.days])
        self.store.before_run()

    def load(self, data, sent):
        for day, path in zip(data.days, sent):
            with open(path, "rb") as stream:
                self.store.copy_period(self.table, day.period, stream)
        for day in data.days:
            self.store.close_period(self.table, day.period)
        self.store.settle()
        self.store.before_run()
        self.store.after_run()

    def disk_bytes(self):
        return self.store.disk_bytes()

    def newest(self, question):
        """A look-up an item."""
        return (
            "SELECT h.itemid, h.value FROM unnest('{%s}'::bigint[]) i, LATERAL (SELECT * FROM %s "
            "WHERE itemid = i ORDER BY clock DESC, ns DESC LIMIT 1) h"
            % (",".join(map(str, question.items)), self.table)
        )

    def text(self, question):
        """SQL."""
        if question.kind == HOUR:
            return "SELECT clock::bigint * 1000000000 + ns, value FROM %s WHERE %s" % (
                self.table,
                where(question),
            )
        if question.kind == NEWEST:
            return self.newest(question)
        if question.kind == TOTAL:
            return "SELECT sum(value) FROM " + self.table
        if question.kind == ABOVE:
            return total_above(question, self.table)
        if question.kind == HOURS:
            return (
                "SELECT clock / 3600 * 3600, sum(value), count(*) FROM %s GROUP BY clock / 3600"
                % self.table
            )
        keys = "itemid, clock / 3600 * 3600"
        return "SELECT %s, avg(value), min(value), max(value) FROM %s WHERE %s GROUP BY %s" % (
            keys,
            self.table,
            where(question),
            keys,
        )

    def ask(self, question):
        if self.connection is None:
            self.connection = libpq.Connection(self.store.dsn())
        text = self.text(question)
        cpu, started = self.cpu(), time.perf_counter()
        answer = self.connection.execute(text)
        seconds = time.perf_counter() - started
        return seconds, self.cpu() - cpu, [list(row) for row in answer]

    def clear(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        self.store.drop()


class Packed(Postgres):
    """Packed days: its own function for the newest values."""

    def newest(self, question):
        return "SELECT itemid, value FROM zbxhist.last_values(NULL::%s, '{%s}', 1, %d)" % (
            self.table,
            ",".join(map(str, question.items)),
            question.start,
        )


# those in PostgreSQL first
POSTGRES = {
    "plain": (Postgres, Terms("refused", "any row", POSTGRES_CRASH, "ns")),
    "native": (Postgres, Terms("refused", "any row", POSTGRES_CRASH, "ns")),
    "zbxhist-packed": (Packed, Terms("refused", "any row's value", POSTGRES_CRASH, "ns")),
    "timescaledb": (Postgres, Terms("refused", "any row, decompressed", POSTGRES_CRASH, "ns")),
}
OTHERS = {
    store.NAME: store
    for store in (ClickHouse, ClickHouseCodecs, ClickHouseAlp, VictoriaMetrics, DuckDb, Parquet)
}
NAMES = tuple(POSTGRES) + tuple(OTHERS)


def why_missing(cluster, name):
    """Why a store cannot be measured; None when it can."""
    if name in POSTGRES:
        return STORES[name].missing(cluster)
    return OTHERS[name].missing()


def open_store(cluster, name):
    """A store, started; the cluster stops it at its end."""
    if name in POSTGRES:
        kind, terms = POSTGRES[name]
        return kind(STORES[name](cluster), terms)
    return cluster.peer(OTHERS[name])
