"""A real Zabbix server on a store, and the senders of its values."""

import gzip
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import types

from . import environment
from .peer import raise_share

# the modules of the end-to-end test fetch and start Zabbix
sys.path.append(str(environment.REPOSITORY / "test" / "zabbix"))
from zbxtest import debs, proc  # noqa: E402
from zbxtest.server import configuration  # noqa: E402

VERSION = "7.0"
FIRST_HOST, FIRST_ITEM = 100000, 1000000
ITEMS_OF_HOST = 100  # half of them dependent
AGENT_PERIOD = 5  # seconds between two messages of an agent
SENDER_VALUES = 250  # of a message of zabbix_sender
SENDERS = 4
FLOAT, TEXT, UINT = 0, 4, 3
TRAPPER, DEPENDENT = 2, 18

# differences to the end-to-end test's server
SETTINGS = {
    "AllowRoot": 1,
    "StartTrappers": 5,
    "StartPreprocessors": 2,
    "StartDBSyncers": 4,
    "StartHistoryPollers": 5,
    "CacheSize": "512M",
    "HistoryCacheSize": "128M",
    "HistoryIndexCacheSize": "32M",
    "TrendCacheSize": "64M",
    "ValueCacheSize": "64M",
    "LogSlowQueries": 3000,
    "StatsAllowedIP": "127.0.0.1",
}

# Hosts with trapper items; the other half of the items depend on these and copy their
# values.
ITEMS = """
UPDATE hosts SET status = 1 WHERE status = 0;
INSERT INTO hosts (hostid, host, name, name_upper)
SELECT {host} + h, 'busy ' || h, 'busy ' || h, 'BUSY ' || h FROM generate_series(0, {hosts} - 1) h;
INSERT INTO host_rtdata (hostid) SELECT hostid FROM hosts WHERE hostid >= {host};
INSERT INTO hosts_groups (hostgroupid, hostid, groupid)
SELECT hostid, hostid, (SELECT min(groupid) FROM hstgrp) FROM hosts WHERE hostid >= {host};
INSERT INTO items (itemid, hostid, type, value_type, name, key_, delay, master_itemid)
SELECT {item} + i, {host} + i / {n}, CASE WHEN i % {n} < {n} / 2 THEN {trapper} ELSE {dependent} END,
       CASE i % {n} % 10 WHEN 9 THEN {text} WHEN 1 THEN {uint} WHEN 3 THEN {uint} WHEN 5 THEN {uint} WHEN 7 THEN {uint}
                         ELSE {float} END,
       'item ' || i, 'busy[' || i % {n} || ']', '0', CASE WHEN i % {n} >= {n} / 2 THEN {item} + i - {n} / 2 END
  FROM generate_series(0, {hosts} * {n} - 1) i ORDER BY i % {n} >= {n} / 2, i;
INSERT INTO item_rtdata (itemid) SELECT itemid FROM items WHERE itemid >= {item};
INSERT INTO item_rtname (itemid, name_resolved, name_resolved_upper)
SELECT itemid, name, upper(name) FROM items WHERE itemid >= {item};
"""


def fetch(directory):
    """Unpacks Debian's packages; raises debs.Unavailable."""
    place = os.environ.get("ZBXHIST_ZABBIX_CACHE") or "%s/packages" % directory
    return debs.Store(place).release(VERSION)


class Zabbix:
    """A Zabbix server with a database in a cluster of its own."""

    def __init__(self, release, store, hosts, directory):
        self.release, self.store, self.hosts = release, store, hosts
        self.directory = pathlib.Path(directory) / store.name
        self.directory.mkdir()
        self.port = proc.free_port()
        self.process = None

    def load_schema(self):
        """Makes Zabbix's database without the tables that the store makes."""
        psql = [str(self.store.cluster.bindir / "psql"), "-XAqt", "-v", "ON_ERROR_STOP=1"]
        psql += ["-o", "/dev/null", "-d", self.store.dsn()]
        for script in ("schema", "images", "data"):
            with subprocess.Popen(psql, stdin=subprocess.PIPE) as child:
                with gzip.open("%s/%s.sql.gz" % (self.release.sql, script)) as text:
                    shutil.copyfileobj(text, child.stdin, 1 << 20)
                child.stdin.close()
                if child.wait() != 0:
                    raise RuntimeError("%s.sql of Zabbix cannot be loaded" % script)
        self.store.execute("DROP TABLE " + ", ".join(self.store.tables))

    def configure(self):
        """Makes hosts and items."""
        self.store.execute(
            ITEMS.format(
                host=FIRST_HOST,
                item=FIRST_ITEM,
                hosts=self.hosts,
                n=ITEMS_OF_HOST,
                trapper=TRAPPER,
                dependent=DEPENDENT,
                float=FLOAT,
                uint=UINT,
                text=TEXT,
            )
        )
        self.store.execute("ANALYZE")

    def start(self):
        """Starts the server; returns when it accepts values."""
        conf = self.directory / "zabbix.conf"
        conf.write_text(
            configuration(
                SETTINGS,
                cluster=types.SimpleNamespace(
                    host=self.store.cluster.directory / "socket", port=5432
                ),
                database=self.store.database,
                port=self.port,
                log=self.directory / "zabbix.log",
                directory=self.directory,
            ),
            encoding="utf-8",
        )
        self.process = proc.start(
            [self.release.server, "-f", "-c", str(conf)],
            str(self.directory / "out"),
            env=dict(self.release.environment, TZ="UTC"),
        )
        raise_share(self.process.pid)
        proc.wait_for("zabbix_server on " + self.store.name, self._is_up, 120)

    def log(self):
        """The server's log."""
        path = self.directory / "zabbix.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def _is_up(self):
        if self.process.poll() is not None:
            raise RuntimeError("zabbix_server ended:\n" + self.log()[-3000:])
        return re.search(r"server #\d+ started \[trapper #5\]", self.log())

    def stop(self):
        """Ends it normally, which stores what is cached."""
        proc.stop(self.process, timeout=300)

    def has_stored_all(self):
        """Is nothing left in preprocessing or in the history cache?  Values stay there until
        they are committed."""
        data = json.loads(self._ask(b'{"request": "zabbix.stats"}')[13:])["data"]
        return data["preprocessing_queue"] == 0 and data["wcache"]["history"]["used"] == 0

    def send(self, message):
        """Sends a message as an agent or zabbix_sender does; returns how many values were
        accepted."""
        found = re.search(rb"processed: (\d+)", self._ask(message))
        return int(found.group(1)) if found else 0

    def _ask(self, message):
        """The answer to a message."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(b"ZBXD\1" + struct.pack("<II", len(message), 0) + message)
            answer = b""
            while True:
                part = connection.recv(4096)
                if not part:
                    return answer
                answer += part


class Feed:
    """Sends values of all hosts to several Zabbix servers, which get the same bytes.

    An item is due at its number modulo the interval.  Its nanosecond and its value are computed
    from item and clock.

    sent: number of values to be stored, with those of dependent items
    """

    def __init__(self, zabbixes, hosts, interval):
        self.zabbixes, self.hosts, self.interval = zabbixes, hosts, interval
        self.sent = 0
        self.refused = {zabbix.store.name: 0 for zabbix in zabbixes}
        self.late = 0.0  # seconds
        self.error = None
        self.stopping = threading.Event()
        self.guard = threading.Lock()
        self.threads = [
            threading.Thread(target=self._run, args=(number,), daemon=True)
            for number in range(SENDERS)
        ]

    def _send_all(self, hosts):
        """Sends values of these hosts until it is told to stop."""
        raise NotImplementedError

    def _run(self, number):
        try:
            self._send_all(range(number, self.hosts, SENDERS))
        except Exception as error:  # pylint: disable=broad-except
            self.error = error

    def _sleep_until(self, moment):
        """Waits; False if it is told to stop."""
        if self.stopping.wait(max(0.0, moment - time.time())):
            return False
        self.late = max(self.late, time.time() - moment)
        return True

    def values(self, host, first, last):
        """Values of the host's items from one second (inclusive) to another (exclusive)."""
        for clock in range(first, last):
            for item in range(ITEMS_OF_HOST // 2):
                number = host * ITEMS_OF_HOST + item
                if (clock + number) % self.interval == 0:
                    dice = hash((number, clock)) & 0x7FFFFFFF
                    yield {
                        "host": "busy %d" % host,
                        "key": "busy[%d]" % item,
                        "value": self._value(item, clock, dice),
                        "clock": clock,
                        "ns": dice % 10**9,
                    }

    @staticmethod
    def _value(item, clock, dice):
        if item % 10 == 9:
            return "state %d: %s" % (dice % 7, "all is as it was before " * (1 + dice % 5))
        if item % 2:
            return str(clock * 1000 + dice % 1000)
        return "%.4f" % (item + dice % 10000 / 100)

    def send(self, values):
        """Sends one message to each Zabbix server."""
        if not values:
            return
        message = json.dumps({"request": "sender data", "data": values}).encode()
        for zabbix in self.zabbixes:
            refused = len(values) - zabbix.send(message)
            with self.guard:
                self.refused[zabbix.store.name] += refused
        with self.guard:
            self.sent += 2 * len(values)

    def start(self):
        """Starts all senders, with a larger share of CPU: agents have machines of their own."""
        raise_share(os.getpid())
        for thread in self.threads:
            thread.start()

    def stop(self):
        """Stops; returns when all messages that were begun have been sent."""
        self.stopping.set()
        for thread in self.threads:
            thread.join()
        if self.error:
            raise RuntimeError("a sender: %s" % self.error)


class Agents(Feed):
    """Each host's agent sends the new values of its items every few seconds."""

    def _send_all(self, hosts):
        base = int(time.time()) // AGENT_PERIOD * AGENT_PERIOD
        since = dict.fromkeys(hosts, base)
        while True:
            base += AGENT_PERIOD
            for place, host in enumerate(hosts):
                due = base + place * AGENT_PERIOD / len(hosts)
                if not self._sleep_until(due):
                    return
                self.send(list(self.values(host, since[host], int(due))))
                since[host] = int(due)


class Senders(Feed):
    """Messages of zabbix_sender: every second the values of many hosts, in full messages."""

    def _send_all(self, hosts):
        second = int(time.time())
        while self._sleep_until(second + 1):
            values = [value for host in hosts for value in self.values(host, second, second + 1)]
            for place in range(0, len(values), SENDER_VALUES):
                self.send(values[place : place + SENDER_VALUES])
            second += 1


FEEDS = {"agents": Agents, "senders": Senders}
