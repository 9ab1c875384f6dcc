"""The server, its standby, and the clock that both use."""

import os
import shutil
import signal
import struct
import subprocess
import time

import psycopg2

SETTINGS = """
listen_addresses = ''
unix_socket_directories = '{socket}'
port = {port}
max_connections = 60
max_prepared_transactions = 10
# readers of whole tables with partitions of a quarter of an hour
max_locks_per_transaction = 512
shared_buffers = 64MB
shared_preload_libraries = 'zbxhist'
maintenance_work_mem = 32MB
max_wal_size = 512MB
checkpoint_timeout = 1min
fsync = on
synchronous_commit = on
wal_keep_size = 4GB
hot_standby_feedback = {feedback}
max_standby_streaming_delay = 20s
deadlock_timeout = 200ms
autovacuum_naptime = 5s
restart_after_crash = on
log_line_prefix = '%m [%p] %e %q%a '
log_min_messages = warning
log_statement = 'none'
"""

PORT = 5432


def _runs(pid):
    """Is there such a process that is not a zombie?"""
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Clock:
    """The servers' clock: the machine's, plus an offset in a file."""

    def __init__(self, place):
        self.path = os.path.join(place, "clock")
        self.library = os.path.join(place, "clock.so")
        self.ahead = 0
        with open(self.path, "wb") as file:
            file.write(struct.pack("=q", 0))

    def step(self, seconds):
        """Moves the clock forward, or back by a negative number."""
        self.ahead += seconds
        # written in place, because the servers have mapped the file
        with open(self.path, "r+b") as file:
            file.write(struct.pack("=q", self.ahead))

    def environment(self):
        """The environment with which a server's processes use it."""
        return {"LD_PRELOAD": self.library, "ZBXHIST_CLOCK": self.path}


class Server:
    """A PostgreSQL server in a data directory, reached by its socket."""

    def __init__(self, place, name, clock, port=PORT):
        self.name = name
        self.port = port
        self.clock = clock
        self.data = os.path.join(place, name)
        self.socket = os.path.join(place, name + "-socket")
        self.log = os.path.join(place, name + ".log")
        os.makedirs(self.socket, exist_ok=True)

    def _run(self, *command, check=True, fake=True):
        environment = dict(os.environ, **(self.clock.environment() if fake else {}))
        return subprocess.run(
            command,
            env=environment,
            check=check,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
        )

    def configure(self, feedback):
        with open(os.path.join(self.data, "postgresql.conf"), "a") as file:
            file.write(SETTINGS.format(socket=self.socket, port=self.port, feedback=feedback))

    def create(self):
        self._run(
            "initdb",
            "-D",
            self.data,
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "--data-checksums",
            fake=False,
        )
        self.configure("off")

    def copy_of(self, primary, mapping):
        """Makes a standby of a running server; mapping moves a tablespace."""
        options = ["-T", "%s=%s" % mapping] if mapping else []
        self._run(
            "pg_basebackup",
            "-D",
            self.data,
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
            *options,
            "-d",
            primary.dsn("postgres"),
            fake=False,
        )
        self.configure("on")

    def start(self):
        self._run("pg_ctl", "-D", self.data, "-w", "-t", "300", "-l", self.log, "start")

    def stop(self, mode="fast"):
        self._run("pg_ctl", "-D", self.data, "-w", "-t", "300", "-m", mode, "stop", check=False)

    def pid(self):
        with open(os.path.join(self.data, "postmaster.pid")) as file:
            return int(file.readline())

    def is_running(self):
        try:
            return _runs(self.pid())
        except (FileNotFoundError, ValueError):
            return False

    def crash(self):
        """Kills the postmaster and all its processes by SIGKILL."""
        pid = self.pid()
        # first stopped, so that it starts no process unseen
        os.kill(pid, signal.SIGSTOP)
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(pid)], stdout=subprocess.PIPE, check=False
        ).stdout.split()
        os.kill(pid, signal.SIGKILL)
        for child in children:
            try:
                os.kill(int(child), signal.SIGKILL)
            except ProcessLookupError:
                pass
        # their parent may reap them late, and PostgreSQL would take them for running
        while any(_runs(int(each)) for each in [pid, *children]):
            time.sleep(0.1)
        for lock in (
            os.path.join(self.data, "postmaster.pid"),
            os.path.join(self.socket, ".s.PGSQL.%d.lock" % self.port),
        ):
            if os.path.exists(lock):
                os.remove(lock)
        self.start_again()

    def start_again(self):
        """Starts it when no former process is left; a standby may still be stopping."""
        for _ in range(30):
            try:
                return self.start()
            except subprocess.CalledProcessError:
                time.sleep(1)
        return self.start()

    def dsn(self, database="soak", **options):
        options = dict(
            host=self.socket, port=self.port, user="postgres", dbname=database, **options
        )
        return " ".join("%s='%s'" % item for item in options.items())

    def connect(self, name, database="soak", patience=300):
        """Opens an autocommit connection; waits for a server that is starting."""
        deadline = time.monotonic() + patience
        while True:
            try:
                connection = psycopg2.connect(self.dsn(database, application_name=name))
                connection.autocommit = True
                return connection
            except psycopg2.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def connect_or_start(self, name):
        """The same for a server that may be stopped or stopping."""
        for _ in range(30):
            if not self.is_running():
                self.start_again()
            try:
                return self.connect(name, patience=10)
            except psycopg2.OperationalError:
                pass
        return self.connect(name)

    def cancel_all(self, name):
        """Cancels the statements of clients; does nothing if the server is down."""
        try:
            connection = self.connect(name, patience=0)
        except psycopg2.OperationalError:
            return
        try:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE state = 'active'"
                    " AND backend_type = 'client backend' AND datname = 'soak' AND pid <> pg_backend_pid()"
                )
        except psycopg2.Error:
            pass
        finally:
            connection.close()

    def alarming_lines(self):
        """Lines of the log that no fault explains.

        A crash amid REINDEX CONCURRENTLY leaves an invalid index of the TOAST
        table behind, which each later one says it skips.
        """
        explained = (
            "could not stat file",
            "cannot reindex invalid index",
            # a session was ending when another one was killed
            "could not send data to client",
        )
        lines = []
        with open(self.log, errors="replace") as file:
            for line in file:
                if "PANIC" in line or "TRAP:" in line or " XX00" in line:
                    if not any(text in line for text in explained):
                        lines.append(line.rstrip()[:300])
        return lines

    def remove(self):
        shutil.rmtree(self.data, ignore_errors=True)
