"""Looks at a server while a stream goes on: memory of its processes, runs that readers meet."""

import threading
import time

from . import counters
from .cluster import SUPERUSER

INTERVAL = 0.5
LOOK_SHARE = 10  # a look takes that part of the time, at most

# tables of runs that have some
TABLES = "SELECT day::text FROM zbxhist.packed_day WHERE runs AND pg_relation_size(day) > 0"
# what a statement or a merge wrote is one for who reads an item, if it fills its pages;
# what has no batch is not merged yet
SOURCES = """
SELECT coalesce(sum(weight) FILTER (WHERE is_new), 0)::int, coalesce(sum(weight), 0)::int
  FROM (SELECT is_new, CASE WHEN NOT is_new OR bytes >= runs * 2048 THEN 1 ELSE runs END AS weight
          FROM (SELECT batch IS NULL AS is_new, count(*) AS runs,
                       sum(greatest(pg_column_size(r.*), 4 * nrows)) AS bytes
                  FROM %s r GROUP BY batch, CASE WHEN batch IS NULL THEN xmin::text END) t) b"""
WORKERS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'zbxhist merge'"


class Watch(threading.Thread):
    """From its making until stop().

    pids: the backends that serve the stream
    """

    def __init__(self, store, pids):
        super().__init__(daemon=True)
        self.pids = pids
        self.has_runs = "runs" in store.name
        self.connection = store.connect(SUPERUSER)
        self.backend_bytes = self.worker_bytes = 0
        self.unmerged, self.sources = [], []
        self.problem = None
        self.stopping = threading.Event()
        self.start()

    def _execute(self, text):
        with self.connection.cursor() as cursor:
            cursor.execute(text)
            return cursor.fetchall()

    @staticmethod
    def _memory(pids):
        """The largest of some processes; 0 if they have ended."""
        found = [0]
        for pid in pids:
            try:
                found.append(counters.private_memory(pid))
            except OSError:
                continue
        return max(found)

    def _look(self):
        self.backend_bytes = max(self.backend_bytes, self._memory(self.pids))
        if not self.has_runs:
            return
        workers = [pid for pid, in self._execute(WORKERS)]
        self.worker_bytes = max(self.worker_bytes, self._memory(workers))
        found = [self._execute(SOURCES % table)[0] for table, in self._execute(TABLES)]
        if found:
            self.unmerged.append(max(unmerged for unmerged, _ in found))
            self.sources.append(max(sources for _, sources in found))

    def run(self):
        pause = INTERVAL
        while not self.stopping.wait(pause):
            began = time.monotonic()
            try:
                self._look()
            except Exception as error:  # told by stop()
                self.problem = error
                return
            pause = max(INTERVAL, LOOK_SHARE * (time.monotonic() - began))

    def stop(self):
        """What was seen."""
        self.stopping.set()
        self.join()
        self.connection.close()
        if self.problem is not None:
            raise self.problem
        return {
            "backend_bytes": self.backend_bytes,
            "worker_bytes": self.worker_bytes,
            "unmerged": self.unmerged,
            "sources": self.sources,
        }
