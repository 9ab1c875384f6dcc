"""Runs the loader, which sends Zabbix's stream of values."""

import csv
import dataclasses
import json
import subprocess
import tempfile

from . import counters, environment
from .stores import schema


@dataclasses.dataclass(frozen=True)
class Load:
    """A cell of the write experiment, and the stream that it sends."""

    rows: int
    connections: int
    values: int
    warmup: int
    clock: int
    items: int = 30000
    mix: str = "float"
    step: int = 60
    first_pass: int = 0
    seed: int = 1
    spread: int = 1

    @property
    def cell(self):
        """The properties that distinguish cells."""
        return (self.rows, self.connections)


class Failed(Exception):
    """A driver ended with an error."""


def loader_path():
    """The path of the loader, built if necessary."""
    environment.build(environment.BENCH / "loader")
    return str(environment.BENCH / "loader" / "loader")


def stream_arguments(load):
    """The loader's options for a load's stream."""
    return [
        "--spread=%d" % load.spread,
        "--items=%d" % load.items,
        "--batch=%d" % load.rows,
        "--mix=" + load.mix,
        "--clock=%d" % load.clock,
        "--step=%d" % load.step,
        "--first-pass=%d" % load.first_pass,
        "--seed=%d" % load.seed,
    ]


def copy_stream(store, table, load, by_pass=False):
    """Bulk loads the float values of a load, item after item, or in the order of time."""
    command = [loader_path(), "--copy", "--values=%d" % load.values] + stream_arguments(load)
    if by_pass:
        command.append("--by-pass")
    with subprocess.Popen(command, stdout=subprocess.PIPE) as loader:
        store.copy_from(table, loader.stdout)
    if loader.returncode != 0:
        raise Failed("loader --copy failed")


class Reading:
    """CPU and WAL position at a moment."""

    def __init__(self, store, wal, pids):
        self.backends = counters.backends_cpu(pids)
        self.server = store.server_cpu()
        self.wal = wal.position() if wal else None


def _wal_costs(before, after, wal, values):
    """Bytes of WAL per value, if the store counts them."""
    if not wal:
        return {"wal_bytes_per_value": None, "wal_image_bytes_per_value": None}
    written = wal.between(before.wal, after.wal)
    return {
        "wal_bytes_per_value": written["bytes"] / values,
        "wal_image_bytes_per_value": written["image_bytes"] / values,
    }


def costs(before, after, wal, values):
    """The difference of two readings, per value; None if the server does not tell."""
    server = after.server - before.server
    backends = after.backends - before.backends
    return {
        "cpu_seconds": backends,
        "cpu_us_per_value": backends / values * 1e6,
        "values_per_cpu_second": values / backends if backends else None,
        "server_cpu_seconds": server,
        "server_cpu_us_per_value": server / values * 1e6,
        **_wal_costs(before, after, wal, values),
    }


class LoaderProcess:
    """A running loader, which waits before and after its measured part."""

    def __init__(self, arguments):
        # a file, because nobody would read from a pipe during a long run
        self.messages = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [loader_path()] + arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.messages,
            text=True,
        )

    def errors(self):
        """The end of the loader's error output."""
        self.messages.seek(0)
        return self.messages.read()[-2000:]

    def event(self, name):
        """Waits for an event; returns its arguments."""
        line = self.process.stdout.readline()
        if not line:
            raise Failed("loader: " + self.errors())
        event = json.loads(line)
        if event["event"] != name:
            raise Failed("loader: %s instead of %s" % (event["event"], name))
        return event

    def go_on(self):
        """Lets the loader continue."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def finish(self):
        """Lets the loader disconnect; returns its error output."""
        self.go_on()
        if self.process.wait() != 0:
            raise Failed("loader: " + self.errors())
        return self.errors()

    def kill(self):
        """Ends it after an error elsewhere."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.messages.close()


def read_statements(path):
    """Start, latency and delay of all statements, which the loader wrote with --csv."""
    with open(path, encoding="ascii") as lines:
        return [
            {
                "start": float(row["start"]),
                "latency": float(row["latency_ms"]),
                "delay": float(row["delay_ms"]),
            }
            for row in csv.DictReader(lines)
        ]


def run_loader(store, load, wal):
    """Runs the loader once; counters are read while its connections are idle."""
    wal = store.wal_counter(wal)
    loader = LoaderProcess(
        store.loader_arguments()
        + stream_arguments(load)
        + [
            "--connections=%d" % load.connections,
            "--values=%d" % load.values,
            "--warmup=%d" % load.warmup,
            "--handshake",
        ]
    )
    try:
        pids = loader.event("ready")["pids"]
        before = Reading(store, wal, pids)
        loader.go_on()
        result = loader.event("done")
        after = Reading(store, wal, pids)
        loader.finish()
    finally:
        loader.kill()
    values = result["values"] or 1
    return loader_measurement(result, costs(before, after, wal, values))


def loader_measurement(result, cost):
    """The loader's figures, and the costs."""
    measurement = {
        key: result[key]
        for key in (
            "values",
            "seconds",
            "values_per_second",
            "statements",
            "failed",
            "duplicates",
            "lost",
        )
    }
    measurement["latency_ms"] = {
        key: result["insert_ms"][key] for key in ("mean", "p50", "p95", "p99", "max")
    }
    measurement.update(cost)
    return measurement


def loader_rows(load):
    """The number of rows of a load, in all tables."""

    def whole(values):
        passes, rest = divmod(values, load.items)
        tail = min(-(-rest // load.rows) * load.rows, load.items)
        return passes * load.items + tail

    return whole(load.warmup) + whole(load.values)


# the mix with this table only
MIX_OF_TABLE = {
    "history": "float",
    "history_uint": "uint",
    "history_str": "str",
    "history_text": "text",
    "history_log": "log",
}


def _digest(arguments):
    """The number of rows and their checksum, as the loader prints them."""
    done = subprocess.run([loader_path()] + arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed("loader: " + done.stderr[-2000:])
    return json.loads(done.stdout)


def read_back(store, mix):
    """Rows and checksum of a mix, or of one table, as read from a store.

    The loader reads all stores, so the checksum is equal for all that hold the same rows, and
    for the stream.
    """
    return _digest(
        store.loader_arguments() + ["--read-back", "--mix=" + MIX_OF_TABLE.get(mix, mix)]
    )


def stream_digest(load, rows):
    """Rows and checksum of a number of values of the stream, in whole batches."""
    return _digest(stream_arguments(load) + ["--digest", "--values=%d" % rows])


def tables(mix):
    """The tables of a mix of value types."""
    return schema.MIXES[mix]
