"""CPU, WAL and memory counters, read from outside the measured processes."""

import os
import pathlib
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")


def _stat_fields(pid):
    """/proc/<pid>/stat from the third field on (the name may contain spaces)."""
    text = pathlib.Path("/proc/%d/stat" % pid).read_text(encoding="ascii", errors="replace")
    return text.rsplit(")", 1)[1].split()


def process_cpu(pid):
    """User and system seconds of a process, in nanoseconds where the kernel counts them."""
    try:
        text = pathlib.Path("/proc/%d/schedstat" % pid).read_text(encoding="ascii")
        return int(text.split()[0]) / 1e9
    except (OSError, IndexError, ValueError):
        fields = _stat_fields(pid)
        return (int(fields[11]) + int(fields[12])) / TICKS


def backends_cpu(pids):
    """CPU seconds of these backends together."""
    return sum(process_cpu(pid) for pid in pids)


def reaped_cpu(postmaster_pid):
    """CPU seconds of the server's processes that have ended."""
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
    """CPU seconds of the whole server: live processes and those that have ended."""
    total = process_cpu(postmaster_pid) + reaped_cpu(postmaster_pid)
    for child in children(postmaster_pid):
        try:
            total += process_cpu(child)
        except OSError:
            continue  # ended meanwhile; the next reading counts it among those that have ended
    return total


def _times(fields, first):
    """User and system seconds of a pair of fields in /proc/<pid>/stat."""
    return int(fields[first]) / TICKS, int(fields[first + 1]) / TICKS


def server_times(pid):
    """User and system seconds of a server: the process, its children, and those that have
    ended."""
    fields = _stat_fields(pid)
    pairs = [_times(fields, 11), _times(fields, 13)]
    for child in children(pid):
        try:
            pairs.append(_times(_stat_fields(child), 11))
        except OSError:
            continue  # ended meanwhile; the next reading counts it among those that have ended
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def machine_iowait():
    """Seconds in which cores were idle and waited for a disk, summed over all cores."""
    first = pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0]
    return int(first.split()[5]) / TICKS


class Sampler(threading.Thread):
    """Samples a server's CPU regularly; samples has (time, user, system, iowait) in seconds."""

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
        """Returns after the last sample."""
        self.stopping.set()
        self.join()
        self.samples.append((time.time(), *server_times(self.pid), machine_iowait()))
        return self.samples


def threads_cpu(pid):
    """User and system seconds of a process with many threads, including threads that have ended.

    It reads the clock of clock_getcpuclockid(), which counts nanoseconds.
    """
    return time.clock_gettime((~pid << 3) | 2)


def written_bytes(pid):
    """Bytes that a server has written to its files: the process, its children, and those that
    have ended.

    The kernel counts when a page of its cache becomes dirty, so a page that is written twice before
    it goes to the disk counts once.  None if the kernel does not tell.
    """
    total = 0
    for process in [pid] + children(pid):
        try:
            text = pathlib.Path("/proc/%d/io" % process).read_text(encoding="ascii")
        except OSError:
            if process == pid:
                return None
            continue  # ended meanwhile; the next reading counts it with its parent
        total += int(dict(line.split(": ") for line in text.splitlines())["write_bytes"])
    return total


def private_memory(pid):
    """Bytes of private memory of a process, without shared buffers."""
    for line in pathlib.Path("/proc/%d/status" % pid).read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise OSError("no RssAnon for process %d" % pid)


class Wal:
    """Reads WAL positions, and the WAL between two of them."""

    def __init__(self, cluster):
        self.connection = cluster.connect()
        self.execute("CREATE EXTENSION IF NOT EXISTS pg_walinspect")

    def execute(self, sql, parameters=None):
        """Runs a statement."""
        with self.connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchall() if cursor.description else []

    def position(self):
        """The position of the next record."""
        return self.execute("SELECT pg_current_wal_insert_lsn()::text")[0][0]

    def full_page_images(self):
        """Full-page images since the server's start, from pg_stat_wal."""
        self.execute("SELECT pg_stat_clear_snapshot()")
        return int(self.execute("SELECT wal_fpi FROM pg_stat_wal")[0][0])

    def _wait_flushed(self, position):
        """Flushes the WAL, because pg_walinspect reads it from disk and commits do not wait for it.

        A last record that is not a commit is flushed only with the next commit.
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
