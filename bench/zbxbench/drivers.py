"""What sends the values: the loader (Zabbix's stream) and pgbench."""

import dataclasses
import glob
import json
import os
import re
import select
import subprocess
import tempfile

from . import counters, environment, histogram
from .stores import schema


@dataclasses.dataclass(frozen=True)
class Load:
    """One cell of the write experiment, and the stream it sends."""

    driver: str
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
        """What tells one cell from another."""
        return (self.driver, self.rows, self.connections)


class Failed(Exception):
    """A driver ended with an error."""


def loader_path():
    """The loader, built when it is not."""
    environment.build(environment.BENCH / "loader")
    return str(environment.BENCH / "loader" / "loader")


def loader_command(arguments):
    """The loader with its options; they may begin with another loader's command line."""
    return arguments if not arguments[0].startswith("-") else [loader_path()] + arguments


def stream_arguments(load):
    """The loader's options for a load's stream; HBase's loader knows no spread."""
    return ["--spread=%d" % load.spread] * (load.spread > 1) + [
        "--items=%d" % load.items,
        "--batch=%d" % load.rows,
        "--mix=" + load.mix,
        "--clock=%d" % load.clock,
        "--step=%d" % load.step,
        "--first-pass=%d" % load.first_pass,
        "--seed=%d" % load.seed,
    ]


def copy_stream(store, table, load, options="", by_pass=False):
    """Bulk loads a load's float values: item after item, or in the order of time."""
    command = [loader_path(), "--copy", "--values=%d" % load.values] + stream_arguments(load)
    if by_pass:
        command.append("--by-pass")
    with subprocess.Popen(command, stdout=subprocess.PIPE) as loader:
        store.copy_from(table, loader.stdout, options)
    if loader.returncode != 0:
        raise Failed("loader --copy failed")


class Reading:
    """CPU and WAL position at one moment."""

    def __init__(self, store, log, pids):
        self.backends = counters.backends_cpu(pids) if pids else None
        self.server = store.server_cpu()
        self.wal = log.position() if log else None


def _log_costs(before, after, log, values):
    """Bytes of log per value, where the store says how many."""
    if not log:
        return {"wal_bytes_per_value": None, "wal_image_bytes_per_value": None}
    written = log.between(before.wal, after.wal)
    return {
        "wal_bytes_per_value": written["bytes"] / values,
        "wal_image_bytes_per_value": written["image_bytes"] / values,
    }


def settled_costs(before, settled, log, values):
    """The same until the work in the background was done, of all of the server's processes."""
    server = settled.server - before.server
    return {
        "values_per_server_cpu_second": values / server if server else None,
        "settled_server_cpu_us_per_value": server / values * 1e6,
        "settled_wal_bytes_per_value": _log_costs(before, settled, log, values)[
            "wal_bytes_per_value"
        ],
    }


def costs(before, after, log, values):
    """What lies between two readings, per value; None: the server does not tell."""
    server = after.server - before.server
    found = {
        "cpu_seconds": None,
        "cpu_us_per_value": None,
        "values_per_cpu_second": None,
        "server_cpu_seconds": server,
        "server_cpu_us_per_value": server / values * 1e6,
    }
    if before.backends is not None:
        backends = after.backends - before.backends
        found.update(
            cpu_seconds=backends,
            cpu_us_per_value=backends / values * 1e6,
            values_per_cpu_second=values / backends if backends else None,
        )
    found.update(_log_costs(before, after, log, values))
    return found


class LoaderProcess:
    """A running loader, with the handshake around its measured part."""

    def __init__(self, arguments):
        # a file, not a pipe: nobody reads the messages of a long run meanwhile
        self.messages = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            loader_command(arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.messages,
            text=True,
        )

    def errors(self):
        """The end of what the loader complained about."""
        self.messages.seek(0)
        return self.messages.read()[-2000:]

    def has_output(self, seconds):
        """Waits so long at most; whether the loader has something to say."""
        return bool(select.select([self.process.stdout], [], [], seconds)[0])

    def event(self, name):
        """Waits for an event; returns what it says."""
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
        """Lets the loader disconnect; returns what it complained about."""
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


def run_loader(store, load, wal):
    """One run of the loader: counters are read while its connections are idle."""
    log = store.log(wal)
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
        before = Reading(store, log, pids)
        loader.go_on()
        result = loader.event("done")
        after = Reading(store, log, pids)
        store.catch_up()
        settled = Reading(store, log, pids)
        loader.finish()
    finally:
        loader.kill()
    values = result["values"] or 1
    measurement = loader_measurement(result, costs(before, after, log, values))
    measurement.update(settled_costs(before, settled, log, values))
    return measurement


def loader_measurement(result, cost):
    """The loader's figures under the names all drivers use."""
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
    """Rows a load stores, all tables together."""

    def whole(values):
        passes, rest = divmod(values, load.items)
        tail = min(-(-rest // load.rows) * load.rows, load.items)
        return passes * load.items + tail

    return whole(load.warmup) + whole(load.values)


# the mix whose only table it is
MIX_OF_TABLE = {
    "history": "float",
    "history_uint": "uint",
    "history_str": "str",
    "history_text": "text",
    "history_log": "log",
}


def _digest(arguments):
    """What the loader prints about rows: how many, and a checksum of them."""
    done = subprocess.run(loader_command(arguments), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed("loader: " + done.stderr[-2000:])
    return json.loads(done.stdout)


def read_back(store, mix):
    """Rows and checksum of what a store hands out, of a mix or one table.

    All stores are read by the program that filled them: the checksum is equal
    between all that hold the same rows, and to the stream's.
    """
    return _digest(
        store.loader_arguments() + ["--read-back", "--mix=" + MIX_OF_TABLE.get(mix, mix)]
    )


def stream_digest(load, rows):
    """Rows and checksum of so many values of the stream, in whole batches."""
    return _digest(stream_arguments(load) + ["--digest", "--values=%d" % rows])


def pgbench_transactions(load, values):
    """Transactions a client, so that all clients together send so many values."""
    return max(1, round(values / load.rows / load.connections))


def pgbench_command(store, load, values, first_tick, log_prefix=None):
    """The command line of one pgbench run."""
    script = environment.BENCH / "pgbench" / ("write_%d.sql" % load.rows)
    command = [
        str(store.cluster.bindir / "pgbench"),
        "-n",
        "-M",
        "simple",
        "-f",
        str(script),
        "-c",
        str(load.connections),
        "-j",
        str(load.connections),
        "-t",
        str(pgbench_transactions(load, values)),
        "--random-seed=%d" % (load.seed + first_tick),
        "-D",
        "tick=%d" % first_tick,
        "-D",
        "start=%d" % load.clock,
    ]
    if log_prefix:
        command += ["-l", "--log-prefix=" + log_prefix]
    return command + [store.dsn()]


def _pgbench(command):
    """Runs pgbench; returns its report."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or "aborted" in done.stderr:
        raise Failed("pgbench: " + done.stderr[-2000:])
    return done.stdout


def pgbench_latencies(directory):
    """All latencies of the transaction logs, in seconds."""
    for path in glob.glob(os.path.join(directory, "log*")):
        with open(path, encoding="ascii") as log:
            for line in log:
                yield int(line.split()[2]) / 1e6


def run_pgbench(store, load, wal):
    """One run of pgbench.

    Its backends are gone when it ends: their CPU is what the postmaster has
    reaped meanwhile, which includes the start of each connection.
    """
    wal = store.log(wal)
    _pgbench(pgbench_command(store, load, load.warmup, 0))
    store.cluster.wait_for_backends()
    first_tick = pgbench_transactions(load, load.warmup)
    with tempfile.TemporaryDirectory() as directory:
        prefix = os.path.join(directory, "log")
        reading = _reaped_reading(store, wal)
        report = _pgbench(pgbench_command(store, load, load.values, first_tick, prefix))
        store.cluster.wait_for_backends()
        after = _reaped_reading(store, wal)
        store.catch_up()
        settled = _reaped_reading(store, wal)
        latencies = histogram.Histogram(pgbench_latencies(directory))
    measurement = _pgbench_measurement(load, report, latencies, reading, after, wal)
    measurement.update(settled_costs(reading, settled, wal, measurement["values"]))
    return measurement


def _reaped_reading(store, wal):
    reading = Reading(store, wal, [])
    reading.backends = counters.reaped_cpu(store.server_pid())
    return reading


def _pgbench_measurement(load, report, latencies, before, after, wal):
    """pgbench's figures under the names all drivers use."""
    transactions = pgbench_transactions(load, load.values) * load.connections
    rate = float(re.search(r"tps = ([0-9.]+)", report).group(1))
    failed = re.search(r"number of failed transactions: (\d+)", report)
    values = transactions * load.rows
    measurement = {
        "values": values,
        "seconds": transactions / rate,
        "values_per_second": rate * load.rows,
        "statements": transactions,
        "failed": {"any": int(failed.group(1))} if failed and int(failed.group(1)) else {},
        "duplicates": 0,
        "lost": 0,
        "latency_ms": latencies.summary(),
    }
    measurement.update(costs(before, after, wal, values))
    return measurement


def pgbench_rows(load):
    """Rows a load stores."""
    transactions = pgbench_transactions(load, load.warmup) + pgbench_transactions(load, load.values)
    return transactions * load.connections * load.rows


DRIVERS = {"loader": run_loader, "pgbench": run_pgbench}
ROWS = {"loader": loader_rows, "pgbench": pgbench_rows}


def tables(mix):
    """The tables a mix of value types is written to."""
    return schema.MIXES[mix]
