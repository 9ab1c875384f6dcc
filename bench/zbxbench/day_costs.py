"""What a server has written and computed: readings of its counters, and differences of two."""

import os
import time

from . import counters
from .mariadb import tuned_settings

# sizes in which pages are written to the files of tables and indexes
POSTGRES_PAGE = 8192
MARIADB_PAGE = 16384

PATIENCE = 120


def directory_bytes(directory, is_left_out):
    """Bytes of all files below a directory, without excluded paths."""
    total = 0
    for path, names, files in os.walk(directory):
        names[:] = [name for name in names if not is_left_out(name)]
        for name in files:
            if is_left_out(name):
                continue
            try:
                total += os.stat(os.path.join(path, name)).st_size
            except FileNotFoundError:
                continue  # dropped meanwhile
    return total


def difference(before, after):
    """The difference of two readings, counter by counter; None if it is unknown."""
    return {
        key: None if value is None or before[key] is None else value - before[key]
        for key, value in after.items()
    }


class Costs:
    """A server's counters.

    A reading has wal_bytes, page_bytes and its parts in "pages_…", io_bytes (by the kernel's count,
    with the WAL), backend_cpu and background_cpu.
    """

    def __init__(self):
        self.pids = ()
        self.backends_before = 0.0

    def watch(self, pids):
        """The backends, or threads, that serve the load."""
        self.pids = pids

    def forget(self):
        """They are about to end: keeps what they have used."""
        self.backends_before = self.backends()
        self.pids = ()

    def backends(self):
        """CPU seconds of the load's backends."""
        return self.backends_before + counters.backends_cpu(self.pids)

    def reading(self):
        """Reads all counters."""
        raise NotImplementedError

    def between(self, before, after):
        """The difference of two readings."""
        return difference(before, after)

    def checkpoint(self):
        """Writes all dirty pages."""
        raise NotImplementedError

    def disk_bytes(self):
        """Bytes of the data directory without the WAL."""
        raise NotImplementedError

    def close(self):
        """Disconnects."""


# by process: counters of PostgreSQL 15; by type of backend: from 16 on
BGWRITER_PAGES = (
    "SELECT buffers_checkpoint, buffers_clean, buffers_backend " "FROM pg_stat_bgwriter"
)
IO_PAGES = """
SELECT coalesce(sum({bytes}) FILTER (WHERE backend_type = 'checkpointer'), 0),
       coalesce(sum({bytes}) FILTER (WHERE backend_type = 'background writer'), 0),
       coalesce(sum({bytes}) FILTER (
           WHERE backend_type NOT IN ('checkpointer', 'background writer')), 0)
FROM pg_stat_io WHERE object IN ('relation', 'temp relation')"""
IO_BYTES_16 = "(coalesce(writes, 0) + coalesce(extends, 0)) * op_bytes"
IO_BYTES_18 = "coalesce(write_bytes, 0) + coalesce(extend_bytes, 0)"


class PostgresCosts(Costs):
    """The counters of a whole PostgreSQL server; the session that reads them is not counted."""

    def __init__(self, cluster):
        super().__init__()
        self.cluster = cluster
        self.wal = counters.Wal(cluster)
        self.version = self.wal.connection.server_version // 10000
        self.own_pid = self.wal.connection.info.backend_pid

    def _pages(self):
        """Bytes written to tables and indexes: by checkpoints, the background writer, and
        others."""
        if self.version < 16:
            return [count * POSTGRES_PAGE for count in self.wal.execute(BGWRITER_PAGES)[0]]
        size = IO_BYTES_16 if self.version < 18 else IO_BYTES_18
        return [int(count) for count in self.wal.execute(IO_PAGES.format(bytes=size))[0]]

    def _cpu(self):
        """CPU seconds of the whole server, without the session that reads them."""
        return counters.server_cpu(self.cluster.postmaster_pid) - counters.process_cpu(self.own_pid)

    def reading(self):
        self.wal.execute("SELECT pg_stat_clear_snapshot()")
        pages = self._pages()
        backends = self.backends()
        return {
            "position": self.wal.position(),
            "images": self.wal.full_page_images(),
            "page_bytes": sum(pages),
            "pages_checkpoints": pages[0],
            "pages_bgwriter": pages[1],
            "pages_others": pages[2],
            "io_bytes": counters.written_bytes(self.cluster.postmaster_pid),
            "backend_cpu": backends,
            "background_cpu": self._cpu() - backends,
        }

    def between(self, before, after):
        written = self.wal.between(before["position"], after["position"])
        found = {"wal_bytes": written["bytes"], "image_bytes": written["image_bytes"]}
        found.update(
            (key, value)
            for key, value in difference(dict(before, position=0), dict(after, position=0)).items()
            if key != "position"
        )
        return found

    def _checkpoints(self):
        """How many checkpoints were requested so far, and are counted."""
        self.wal.execute("SELECT pg_stat_clear_snapshot()")
        return self.wal.execute(
            "SELECT checkpoints_req FROM pg_stat_bgwriter"
            if self.version < 17
            else "SELECT num_requested FROM pg_stat_checkpointer"
        )[0][0]

    def checkpoint(self):
        """Waits until a checkpoint is counted, which is a moment after its end."""
        before = self._checkpoints()
        self.wal.execute("CHECKPOINT")
        deadline = time.monotonic() + PATIENCE
        while self._checkpoints() == before:
            if time.monotonic() > deadline:
                raise RuntimeError("the checkpoint is not counted")
            time.sleep(0.02)

    def disk_bytes(self):
        return directory_bytes(self.cluster.data, lambda name: name == "pg_wal")

    def close(self):
        self.wal.close()


class MariadbCosts(Costs):
    """The counters of a whole MariaDB server: redo log, pages, and their copies in the
    doublewrite buffer."""

    def __init__(self, server):
        super().__init__()
        self.server = server
        self.connection = server.connect()

    def _status(self):
        rows = self.connection.execute("SHOW GLOBAL STATUS LIKE 'Innodb%'")
        return {name: value for name, value in rows}

    def reading(self):
        status = self._status()
        pages = int(status["Innodb_pages_written"]) * MARIADB_PAGE
        copies = int(status["Innodb_dblwr_pages_written"]) * MARIADB_PAGE
        backends = self.backends()
        return {
            "wal_bytes": int(status["Innodb_os_log_written"]),
            "page_bytes": pages + copies,
            "pages_doublewrite": copies,
            "data_written": int(status["Innodb_data_written"]),
            "io_bytes": counters.written_bytes(self.server.process.pid),
            "backend_cpu": backends,
            "background_cpu": self.server.cpu() - backends,
        }

    def _dirty(self):
        return int(self._status()["Innodb_buffer_pool_pages_dirty"])

    def checkpoint(self):
        """InnoDB has no checkpoint command: flushes all dirty pages instead."""
        self.connection.execute("SET GLOBAL innodb_max_dirty_pages_pct = 0")
        deadline = time.monotonic() + PATIENCE
        while self._dirty() > 0 and time.monotonic() < deadline:
            time.sleep(0.05)
        self.connection.execute(
            "SET GLOBAL innodb_max_dirty_pages_pct = %s"
            % tuned_settings().get("innodb_max_dirty_pages_pct", 90)
        )

    def disk_bytes(self):
        return directory_bytes(
            self.server.directory / "data", lambda name: name.startswith("ib_logfile")
        )

    def close(self):
        self.connection.close()


def costs_of(store):
    """Returns the counters of a store's server."""
    return PostgresCosts(store.cluster) if store.is_postgres else MariadbCosts(store.server)
