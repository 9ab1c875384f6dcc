"""CPU, WAL and memory counters, read from outside the measured processes."""

import os
import pathlib
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")


def _stat_fields(pid):
    """/proc/<pid>/stat from the third field on (the name may hold spaces)."""
    text = pathlib.Path("/proc/%d/stat" % pid).read_text(encoding="ascii", errors="replace")
    return text.rsplit(")", 1)[1].split()


def process_cpu(pid):
    """User and system seconds of one process, to the nanosecond where the kernel has it."""
    try:
        text = pathlib.Path("/proc/%d/schedstat" % pid).read_text(encoding="ascii")
        return int(text.split()[0]) / 1e9
    except (OSError, IndexError, ValueError):
        fields = _stat_fields(pid)
        return (int(fields[11]) + int(fields[12])) / TICKS


def backends_cpu(pids):
    """Seconds of the given backends together."""
    return sum(process_cpu(pid) for pid in pids)


def reaped_cpu(postmaster_pid):
    """Seconds of the server's processes that have ended."""
    fields = _stat_fields(postmaster_pid)
    return (int(fields[13]) + int(fields[14])) / TICKS


def children(pid):
    """The direct children of a process."""
    path = pathlib.Path("/proc/%d/task/%d/children" % (pid, pid))
    if path.exists():
        return [int(child) for child in path.read_text(encoding="ascii").split()]
    return [
        int(entry.name)
        for entry in pathlib.Path("/proc").iterdir()
        if entry.name.isdigit() and _parent(int(entry.name)) == pid
    ]


def _parent(pid):
    try:
        return int(_stat_fields(pid)[1])
    except OSError:
        return 0


def server_cpu(postmaster_pid):
    """Seconds of the whole server: live processes and those that have ended."""
    total = process_cpu(postmaster_pid) + reaped_cpu(postmaster_pid)
    for child in children(postmaster_pid):
        try:
            total += process_cpu(child)
        except OSError:
            continue  # ended meanwhile: counted as reaped in the next reading
    return total


def _times(fields, first):
    """A pair of user and system seconds in /proc/<pid>/stat."""
    return int(fields[first]) / TICKS, int(fields[first + 1]) / TICKS


def server_times(pid):
    """User and system seconds of a server: the process, its children, those that have ended."""
    fields = _stat_fields(pid)
    pairs = [_times(fields, 11), _times(fields, 13)]
    for child in children(pid):
        try:
            pairs.append(_times(_stat_fields(child), 11))
        except OSError:
            continue  # ended meanwhile: counted as reaped in the next reading
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def machine_iowait():
    """Seconds in which a core had nothing to do but wait for a disk, all cores together."""
    first = pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0]
    return int(first.split()[5]) / TICKS


class Sampler(threading.Thread):
    """Reads a server's CPU now and then; samples has (time, user, system, iowait), in seconds."""

    def __init__(self, pid, interval=0.5):
        super().__init__(daemon=True)
        self.pid = pid
        self.interval = interval
        self.samples = []
        self.stopping = threading.Event()

    def run(self):
        while True:
            self.samples.append((time.time(), *server_times(self.pid), machine_iowait()))
            if self.stopping.wait(self.interval):
                return

    def stop(self):
        """The last sample is taken before this returns."""
        self.stopping.set()
        self.join()
        self.samples.append((time.time(), *server_times(self.pid), machine_iowait()))
        return self.samples


def threads_cpu(pid):
    """User and system seconds of a process with many threads, those that ended included.

    The clock that clock_getcpuclockid() has for a process: it counts nanoseconds.
    """
    return time.clock_gettime((~pid << 3) | 2)


def written_bytes(pid):
    """Bytes that a server has sent to its files: the process, its children, those that have ended.

    What the kernel accounts when a page of its cache gets dirty, so that a page
    written twice before it goes to the disk counts once.  None: it does not tell.
    """
    total = 0
    for process in [pid] + children(pid):
        try:
            text = pathlib.Path("/proc/%d/io" % process).read_text(encoding="ascii")
        except OSError:
            if process == pid:
                return None
            continue  # ended meanwhile: counted with its parent in the next reading
        total += int(dict(line.split(": ") for line in text.splitlines())["write_bytes"])
    return total


def private_memory(pid):
    """Bytes of private memory of a process: shared buffers it touched not included."""
    for line in pathlib.Path("/proc/%d/status" % pid).read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise OSError("no RssAnon for process %d" % pid)


class Wal:
    """Reads WAL positions and what lies between two of them."""

    def __init__(self, cluster):
        self.connection = cluster.connect()
        self.execute("CREATE EXTENSION IF NOT EXISTS pg_walinspect")

    def execute(self, sql, parameters=None):
        """One statement."""
        with self.connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchall() if cursor.description else []

    def position(self):
        """Where the next record goes."""
        return self.execute("SELECT pg_current_wal_insert_lsn()::text")[0][0]

    def full_page_images(self):
        """Images written since the server's start, as pg_stat_wal counts them."""
        self.execute("SELECT pg_stat_clear_snapshot()")
        return int(self.execute("SELECT wal_fpi FROM pg_stat_wal")[0][0])

    def _wait_flushed(self, position):
        """pg_walinspect reads from disk; commits do not wait for it.

        The last record of all, if it is not a commit, is flushed with the next commit only.
        """
        for attempt in range(200):
            if attempt == 20:
                self.execute(
                    "SET synchronous_commit = on; "
                    "SELECT pg_logical_emit_message(true, 'zbxbench', 'flush')"
                )
            done = self.execute("SELECT pg_current_wal_flush_lsn() >= %s::pg_lsn", (position,))
            if done[0][0]:
                return
            time.sleep(0.05)
        raise RuntimeError("the server does not flush its WAL")

    def between(self, start, end):
        """Bytes of WAL between two positions: all, and those of full-page images."""
        total = int(self.execute("SELECT pg_wal_lsn_diff(%s, %s)", (end, start))[0][0])
        if total == 0:
            return {"bytes": 0, "image_bytes": 0}
        self._wait_flushed(end)
        images = self.execute(
            "SELECT coalesce(sum(fpi_size), 0) FROM pg_get_wal_stats(%s, %s)", (start, end)
        )[0][0]
        return {"bytes": total, "image_bytes": int(images)}

    def close(self):
        """Disconnects."""
        self.connection.close()
