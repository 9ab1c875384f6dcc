"""Makes a recording: sets up a server, copies it, and lets half a day pass in a minute."""

import mmap
import os
import random
import signal
import struct
import subprocess
import threading
import time

from . import disk
from .server import SETTINGS, Server
from .workload import EXTENSIONS, Checkpointer, Maintainer, Watcher, Writer, schema

# the servers' clock begins some hours before midnight
HOURS_BEFORE_MIDNIGHT = 4
# one of this many pages of packed days is written late
DELAY = 4

# seconds after which a recording fails
PATIENCE = 1800


class Scene:
    """A recorded server, and what is known of it."""

    def __init__(self, place, libraries, level, seed, hours, writers=3):
        self.place = place
        self.libraries = libraries
        self.level = level
        self.seed = seed
        self.hours = hours
        self.pause = 0.2
        self.over = threading.Event()
        self.server = None
        self.data = os.path.join(place, "data")
        self.log = os.path.join(place, "server.log")
        # (time, by how much the clock leads from then on, the clock before)
        self.leads = []
        os.makedirs(place)
        for name in ("counter", "clock"):
            with open(os.path.join(place, name), "wb") as file:
                file.write(bytes(16))
        open(os.path.join(place, "steps"), "wb").close()
        with open(os.path.join(place, "counter"), "r+b") as file:
            self.counter = mmap.mmap(file.fileno(), 16)
        self.writers = [Writer(self, number) for number in range(1, writers + 1)]
        self.watcher = Watcher(self)
        self.workers = [
            *self.writers,
            Maintainer(self, "maintainer"),
            Checkpointer(self, "checkpointer"),
            self.watcher,
        ]
        now = int(time.time())
        self.jump(-(now + HOURS_BEFORE_MIDNIGHT * 3600) % 86400)

    # ---- time ----

    def time(self):
        """The time in the recording."""
        return struct.unpack("=Q", self.counter[:8])[0]

    def clock(self):
        return int(time.time()) + self.leads[-1][1]

    def jump(self, seconds):
        """Moves the servers' clock forward."""
        lead = seconds + (self.leads[-1][1] if self.leads else 0)
        with open(os.path.join(self.place, "clock"), "r+b") as file:
            file.write(struct.pack("=q", lead))
        self.leads.append((self.time(), lead, int(time.time()) + lead - seconds))

    def clock_at(self, moment):
        """The latest clock that the servers may have shown at that time."""
        later = [before for at, _, before in self.leads if at > moment]
        return later[0] + 1 if later else self.clock_at_end

    # ---- the server ----

    def is_running(self):
        return self.server is not None and self.server.is_running()

    def clock_environment(self, lead):
        return {"LD_PRELOAD": self.libraries["clock"], "ZBXHIST_CLOCK": lead}

    def set_up(self):
        clock = self.clock_environment(os.path.join(self.place, "clock"))
        subprocess.run(
            ["initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8"]
            + ["--locale=C", "--data-checksums", "--wal-segsize=1", "--no-sync"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        with open(os.path.join(self.data, "postgresql.conf"), "a") as file:
            file.write(SETTINGS.format(level=self.level))
            if self.level == "logical":
                file.write("max_replication_slots = 1\n")
        # some duplicates are found by INSERTs, some by the worker that merges: with the
        # filter of keys, and without
        settings = ["shared_preload_libraries=zbxhist"] if self.seed % 2 == 0 else []
        self.settings = settings
        socket = os.path.join(self.place, "socket")
        self.server = Server(self.data, socket, self.log, clock, settings)
        if not self.server.start():
            raise RuntimeError("the server does not start: " + self.log)
        session = self.server.session("postgres")
        session.run("CREATE DATABASE power;")
        session.close()
        session = self.server.session()
        available = session.run("SELECT name FROM pg_available_extensions;")
        self.extensions = [name for name in EXTENSIONS if name in available]
        for line in session.run(schema(self.extensions)):
            if "ERROR" in line:
                raise RuntimeError(line)
        if self.level == "logical":
            session.run("SELECT pg_create_logical_replication_slot('slot', 'pgoutput');")
        session.close()
        self.server.end()
        self.begin = disk.read_directory(self.data)
        self.server.environment = dict(
            clock,
            LD_PRELOAD="%s %s" % (self.libraries["clock"], self.libraries["power"]),
            ZBXHIST_POWER_DATA=os.path.realpath(self.data),
            ZBXHIST_POWER_COUNTER=os.path.join(self.place, "counter"),
            ZBXHIST_POWER_LOG=os.path.join(self.place, "steps"),
            ZBXHIST_POWER_DELAY=str(DELAY),
        )

    def record(self):
        """Runs everything at once, with a crash halfway, so that power is also lost during
        recovery."""
        chance = random.Random(self.seed)
        self.server.start()
        self.ready = self.time()
        for worker in self.workers:
            worker.start()
        try:
            half = self.hours * (0.4 + 0.3 * chance.random())
            while len(self.leads) < half and not self.over.wait(0.1):
                pass
            self.over.wait(chance.random())
            self.crashed = self.time()
            self.server.crash()
            if not self.server.start():
                raise RuntimeError("the server does not start again: " + self.log)
            self.recovered = self.time()
            if not self.over.wait(PATIENCE):
                raise RuntimeError("the workload does not come to its end")
        finally:
            self.over.set()
            for worker in self.workers:
                worker.join()
        self.end = self.time()
        self.clock_at_end = self.clock()
        self.server.end(signal.SIGQUIT)
        for worker in self.workers:
            if worker.problem is not None:
                raise worker.problem

    def read(self, pretends=None):
        """Returns the disk as it was before the recording."""
        names, inodes = self.begin
        fresh = {file: type(file)(file.content) for file in names.values()}
        return disk.Disk(
            {name: fresh[file] for name, file in names.items()},
            {inode: fresh[file] for inode, file in inodes.items() if file in fresh},
            disk.read_steps(os.path.join(self.place, "steps")),
            pretends,
            self.is_day_file,
        )

    def is_day_file(self, name):
        """Is it a file of a packed day?"""
        return name.split("_")[0].split(".")[0] in self.watcher.seen

    def counts(self):
        total = {}
        for worker in self.workers:
            for what, number in worker.counts.items():
                total[what] = total.get(what, 0) + number
        return total
