"""A stream of values in the background at a fixed rate, and the latency of its statements."""

import os
import signal
import subprocess
import tempfile

from . import drivers, spread


def fill(store, table, period, load):
    """Stores the float values of a period of a load, in the order of time."""
    command = [drivers.loader_path(), "--copy", "--by-pass", "--values=%d" % load.values]
    with subprocess.Popen(
        command + drivers.stream_arguments(load), stdout=subprocess.PIPE
    ) as loader:
        store.copy_period(table, period, loader.stdout)
    if loader.returncode != 0:
        raise drivers.Failed("loader --copy failed")


class Stream:
    """Runs the loader at a fixed rate, until it is stopped, or for some seconds.

    load: the stream; its warm-up is over when this returns.  seconds: None to end with the load's
    values.  pids: the backends that serve it.
    """

    def __init__(self, store, rate, connections, load, seconds=86400):
        handle, self.path = tempfile.mkstemp(suffix=".csv")
        os.close(handle)
        self.loader = drivers.LoaderProcess(
            store.loader_arguments()
            + [
                "--connections=%d" % connections,
                "--values=%d" % load.values if seconds is None else "--seconds=%g" % seconds,
                "--rate=%g" % rate,
                "--warmup=%d" % load.warmup,
                "--csv=" + self.path,
                "--handshake",
            ]
            + drivers.stream_arguments(load)
        )
        self.pids = self.loader.event("ready")["pids"]
        store.before_run()
        self.loader.go_on()

    def stop(self):
        """Ends the stream; returns the loader's result and all statements."""
        self.loader.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self):
        """Waits for the stream's end; returns the loader's result and all statements."""
        result = self.loader.event("done")
        self.loader.finish()
        return result, drivers.read_statements(self.path)

    def close(self):
        """Ends the processes that are left."""
        self.loader.kill()
        os.unlink(self.path)


def latencies(statements, span):
    """Percentiles of the statements that overlap a stage, from span["from"] to span["to"]."""
    inside = [
        statement
        for statement in statements
        if statement["start"] < span["to"]
        and statement["start"] + statement["latency"] / 1e3 > span["from"]
    ]
    found = {"statements": len(inside)}
    for key in ("latency", "delay"):
        values = [statement[key] for statement in inside]
        found[key + "_ms"] = {
            "p50": spread.percentile(values, 0.5),
            "p99": spread.percentile(values, 0.99),
            "max": max(values) if values else None,
        }
    return found
