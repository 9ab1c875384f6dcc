"""A server with or without the recording library, and sessions of it."""

import os
import signal
import subprocess
import time

# small buffers make the server write pages soon; small WAL segments make many of them
SETTINGS = """
listen_addresses = ''
port = 5432
wal_level = {level}
max_wal_senders = 0
shared_buffers = 4MB
max_connections = 20
max_prepared_transactions = 10
max_wal_size = 8MB
min_wal_size = 2MB
checkpoint_timeout = 30s
# large tables are synced, small ones logged
wal_skip_threshold = 64kB
fsync = on
full_page_writes = on
synchronous_commit = on
autovacuum_naptime = 2s
restart_after_crash = off
log_min_messages = warning
log_line_prefix = '%m [%p] %e '
"""


class Lost(Exception):
    """The connection is lost."""


class Session:
    """psql, used line by line."""

    def __init__(self, socket, database="power"):
        self.number = 0
        self.psql = subprocess.Popen(
            ["psql", "-XAt", "-h", socket, "-p", "5432", "-U", "postgres", "-d", database],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, sql):
        """Runs commands and returns psql's lines, errors included."""
        self.number += 1
        end = "@ %d" % self.number
        try:
            self.psql.stdin.write("%s\n\\echo %s\n" % (sql, end))
            self.psql.stdin.flush()
        except BrokenPipeError:
            raise Lost from None
        lines = []
        for line in self.psql.stdout:
            line = line.rstrip("\n")
            if line == end:
                return lines
            lines.append(line)
        raise Lost("\n".join(lines))

    def close(self):
        try:
            self.psql.stdin.close()
        except BrokenPipeError:
            pass
        self.psql.stdout.close()
        self.psql.wait()


class Server:
    """A server in a data directory; environment has the preloaded libraries."""

    def __init__(self, data, socket, log, environment, settings=()):
        self.data = data
        self.socket = socket
        self.log = log
        self.environment = environment
        self.settings = settings
        self.process = None
        os.makedirs(socket, exist_ok=True)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def start(self, patience=120):
        """Waits until it answers; False if it has ended instead."""
        settings = [word for each in self.settings for word in ("-c", each)]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["postgres", "-D", self.data, "-k", self.socket, *settings],
                env=dict(os.environ, **self.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + patience
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                # line 8 of the pid file says whether it accepts connections
                with open(os.path.join(self.data, "postmaster.pid")) as file:
                    if file.read().split("\n")[7].strip() == "ready":
                        return True
            except (FileNotFoundError, IndexError):
                pass
            time.sleep(0.02)
        return False

    def end(self, how=signal.SIGINT):
        """Stops it, by default in fast mode; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait()

    def children(self):
        path = "/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)
        with open(path) as file:
            return [int(pid) for pid in file.read().split()]

    def crash(self):
        """Kills all its processes by SIGKILL; its pid file tells the next server which shared
        memory is left."""
        self.process.send_signal(signal.SIGSTOP)
        children = self.children()
        self.process.kill()
        self.process.wait()
        for pid in children:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        while any(os.path.exists("/proc/%d/exe" % pid) for pid in children):
            time.sleep(0.02)

    def session(self, database="power"):
        return Session(self.socket, database)
