"""A network's round trip before a server's socket: bytes wait half of it on each way.

    python3 -m zbxbench.delay LISTEN TARGET SECONDS

Whatever comes in is passed on, in its order, when it has waited so long; more may
come meanwhile, so that only who waits for an answer loses time.  It is a process of
its own: the one that measures must not be in its way.
"""

import contextlib
import pathlib
import queue
import socket
import subprocess
import sys
import threading
import time

CHUNK = 1 << 18
SPIN = 0.0002  # seconds before a moment in which sleeping is not exact enough


def _wait_until(moment):
    """Sleeps, and at the end looks at the clock."""
    while True:
        left = moment - time.monotonic()
        if left <= 0:
            return
        if left > SPIN:
            time.sleep(left - SPIN)


def _send(target, chunks, delay):
    """Sends what has waited long enough."""
    while True:
        arrived, chunk = chunks.get()
        _wait_until(arrived + delay)
        try:
            if not chunk:
                target.shutdown(socket.SHUT_WR)
                return
            target.sendall(chunk)
        except OSError:
            return


def _receive(source, chunks):
    """Notes when what came."""
    while True:
        try:
            chunk = source.recv(CHUNK)
        except OSError:
            chunk = b""
        chunks.put((time.monotonic(), chunk))
        if not chunk:
            return


def _pass_on(source, target, delay):
    """One way of a connection."""
    chunks = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(source, chunks), daemon=True).start()
    threading.Thread(target=_send, args=(target, chunks, delay), daemon=True).start()


def serve(listen, target, round_trip):
    """Takes connections for ever."""
    sys.setswitchinterval(0.0001)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(listen)
        pathlib.Path(listen).chmod(0o777)
        server.listen()
        print("ready", flush=True)
        while True:
            client = server.accept()[0]
            behind = socket.socket(socket.AF_UNIX)
            behind.connect(target)
            _pass_on(client, behind, round_trip / 2)
            _pass_on(behind, client, round_trip / 2)


@contextlib.contextmanager
def delayed(directory, target, round_trip):
    """Has a socket of PostgreSQL's name in a directory that is so far from another one."""
    directory.mkdir()
    directory.chmod(0o755)
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            __name__,
            str(directory / ".s.PGSQL.5432"),
            str(target / ".s.PGSQL.5432"),
            str(round_trip),
        ],
        cwd=pathlib.Path(__file__).parent.parent,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            if not process.stdout.readline():
                raise RuntimeError("the delaying proxy has not started")
            yield str(directory)
        finally:
            process.kill()


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], float(sys.argv[3]))
