"""Zabbix 7.0 as the writer: an unmodified server that gets values each second.

It connects to scripts/record, which records what was committed; that connects to HAProxy with
dist/haproxy/haproxy.cfg, and that to the primary.  zabbix_sender is answered when the server has
the values in its cache.  The server keeps them there and stores them when it can connect again.
"""

import collections
import os
import re
import subprocess
import sys
import threading
import time

import psycopg2

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = f"{HERE}/../.."
sys.path.insert(0, f"{TOP}/test/zabbix")

from zbxrecord import pieces  # noqa: E402
from zbxtest import proc  # noqa: E402
from zbxtest.cluster import Cluster  # noqa: E402
from zbxtest.debs import Store  # noqa: E402
from zbxtest.server import Server  # noqa: E402
from zbxtest.values import FLOAT, STR, TABLES, TEXT, TYPES, UINT, Value, normal  # noqa: E402

HOST = "zbxhist-failover"
ITEMS = {FLOAT: ("f", 120), UINT: ("u", 60), STR: ("s", 10), TEXT: ("t", 10)}
# errors that a failover causes in a session, and the outcome of a commit whose answer was
# lost
OF_FAILOVER = ("57P01", "57P02", "57P03", "25006")
REPEATED = "23505"
INSERT = re.compile(r"insert into (history\w*) \(itemid,clock,ns,value\) values ", re.I)
KEY = re.compile(r"\((\d+),(\d+),(\d+),")

SETUP = """
CREATE EXTENSION zbxhist;
SELECT * FROM zbxhist.setup(history_retention => '90 days', trends_retention => '365 days',
    configure_zabbix => true);
"""


class Place(Cluster):
    """A server for the modules of test/zabbix."""

    def __init__(self, port, programs, directory="127.0.0.1"):
        self.directory = self.host = directory
        self.port, self.bin = port, programs


class Proxy:
    """HAProxy with the configuration of docs/standbys.md."""

    def __init__(self, place, members):
        self.primary, self.reports = proc.free_port(), proc.free_port()
        path = f"{place}/haproxy.cfg"
        with open(f"{TOP}/dist/haproxy/haproxy.cfg", encoding="utf-8") as file:
            text = file.read()
        ports = {":5000": self.primary, ":5001": self.reports}
        for bound, port in ports.items():
            text = text.replace(f"bind {bound}", f"bind 127.0.0.1:{port}")
        for number, member in enumerate(members, 1):
            text = text.replace(f"db{number}:5432", f"127.0.0.1:{member.port}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        # /usr/sbin, where Debian has it, is not in the PATH of ordinary users
        environment = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"}
        command = [os.environ.get("HAPROXY", "haproxy"), "-db", "-f", path]
        proc.start(command, f"{place}/haproxy.log", env=environment)


class Reader(threading.Thread):
    """A client that reads a graph again and again."""

    def __init__(self, place):
        super().__init__(daemon=True)
        self.where = (
            f"host={place.directory} port={place.port} dbname=zabbix user=zabbix connect_timeout=3"
        )
        self.answers = collections.Counter()
        self.ending = threading.Event()

    def run(self):
        """Reads until it is told to end."""
        while not self.ending.wait(0.5):
            try:
                self.answers[self.ask()] += 1
            except psycopg2.Error as error:
                self.answers[error.pgcode or "connection lost or refused"] += 1

    def ask(self):
        """The server that has answered: primary or standby."""
        connection = psycopg2.connect(self.where)
        try:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_is_in_recovery(), (SELECT count(*) FROM history WHERE itemid = 1)"
                )
                return "of a standby" if cursor.fetchone()[0] else "of the primary"
        finally:
            connection.close()


class Zabbix(threading.Thread):
    """The Zabbix server and its senders; it has the methods of Writer."""

    def __init__(self, trial):
        super().__init__(daemon=True)
        self.place = trial.place
        self.programs = trial.arguments.bin
        self.members = trial.members
        self.errors = collections.Counter()
        self.ending = threading.Event()
        self.sent = {}
        self.acknowledged, self.times = set(), []
        self.itemids, self.server, self.record, self.reader = {}, None, None, None

    def prepare(self, query):
        """Makes the database with Zabbix's packages and zbxhist, then starts the proxies before
        it."""
        store = Store(os.environ.get("ZBXHIST_ZABBIX_CACHE") or f"{self.place}/packages")
        release = store.release("7.0")
        query("CREATE ROLE zabbix LOGIN; CREATE ROLE haproxy LOGIN", "postgres")
        query("CREATE DATABASE zabbix OWNER zabbix", "postgres")
        near, primary, reports = self.places()
        for script in ("schema", "images", "data"):
            near.load("zabbix", f"{release.sql}/{script}.sql.gz")
        near.psql("zabbix", self.items())
        query(SETUP)
        self.reader = Reader(reports)
        port = proc.free_port()
        self.record = proc.start(
            [f"{TOP}/scripts/record", "--listen", f"127.0.0.1:{port}"]
            + ["--connect", f"{primary.directory}:{primary.port}"]
            + ["--output", f"{self.place}/recording", "--piece-minutes", "100000"],
            f"{self.place}/record.log",
        )
        os.mkdir(f"{self.place}/zabbix")
        self.server = Server(release, Place(port, self.programs), "zabbix", f"{self.place}/zabbix")
        time.sleep(5)
        self.server.start()

    def places(self):
        """The server for the set-up, the address of the primary, and that for reports."""
        proxy = Proxy(self.place, self.members)
        ports = (self.members[0].port, proxy.primary, proxy.reports)
        return [Place(port, self.programs) for port in ports]

    def items(self):
        """Makes a host with trapper items; nothing else sends values."""
        lines = [
            "UPDATE hosts SET status = 1 WHERE status = 0;",
            f"INSERT INTO hosts (hostid, host, name) VALUES (1, '{HOST}', '{HOST}');",
            "INSERT INTO host_rtdata (hostid) VALUES (1);",
        ]
        for kind, (prefix, count) in ITEMS.items():
            for number in range(1, count + 1):
                itemid = len(self.itemids) + 1
                self.itemids[f"{prefix}.{number}"] = itemid
                lines.append(
                    "INSERT INTO items (itemid, type, hostid, name, key_, value_type, history)"
                    f" VALUES ({itemid}, 2, 1, '', '{prefix}.{number}', {kind}, '90d');"
                    f"INSERT INTO item_rtdata (itemid) VALUES ({itemid});"
                )
        return "\n".join(lines)

    def run(self):
        """Sends a value of each item per second until it is told to end."""
        number = 0
        self.reader.start()
        while not self.ending.wait(1):
            number += 1
            clock = int(time.time())
            values = [
                Value(key, clock, number, str(itemid * 1000000 + number))
                for key, itemid in self.itemids.items()
            ]
            try:
                _, failed = self.server.send(HOST, values)
            except subprocess.TimeoutExpired:
                failed = len(values)
            if failed:
                self.errors["values that zabbix_sender could not send"] += failed
                continue
            self.sent.update({(value.key, value.clock, value.ns): value.value for value in values})

    def finish(self, query):
        """Waits until the server's cache is stored, then reads the recording."""
        self.join()
        self.reader.ending.set()
        self.reader.join()
        tables = [TABLES[kind] for kind in ITEMS]
        counts = " + ".join(f"(SELECT count(*) FROM {table})" for table in tables)
        end = time.monotonic() + 120
        while query(f"SELECT {counts}")[0][0] < len(self.sent) and time.monotonic() < end:
            time.sleep(2)
        self.server.stop()
        proc.stop(self.record)
        Recording(self).read()

    def end(self):
        """Ends all processes."""
        proc.stop_all()

    def missing(self, query):
        """Counts committed values that are missing, and sent values that are missing or
        different."""
        stored = {}
        for kind in ITEMS:
            for *key, value in query(f"SELECT itemid, clock, ns, value FROM {TABLES[kind]}"):
                stored[tuple(key)] = value
        absent = sum(
            stored.get((self.itemids[key], clock, ns)) != normal(TYPES[key[0]], value)
            for (key, clock, ns), value in self.sent.items()
        )
        return {
            "values_sent": len(self.sent),
            "sent_and_not_there": absent,
            "values_acknowledged": len(self.acknowledged),
            "lost": sum(key not in stored for key in self.acknowledged),
            "reports": dict(self.reader.answers),
        }


class Recording:
    """Finds committed values in the recording, and counts errors."""

    def __init__(self, zabbix):
        self.zabbix = zabbix
        self.pending = collections.defaultdict(list)

    def read(self):
        """Reads all lines."""
        header, lines = pieces.read(f"{self.zabbix.place}/recording")
        for line in lines:
            session = line[1]
            if len(line) == 3:
                # the session has begun or ended
                self.pending.pop(session, None)
                continue
            _, _, state, _, tags, _, _, error, text = line[:9]
            found = INSERT.match(text)
            if error:
                self.note_error(error, found)
                self.pending.pop(session, None)
            elif found:
                self.pending[session] += (tuple(map(int, key)) for key in KEY.findall(text))
            if (state == "I" and found) or "COMMIT" in tags:
                self.commit(session, header["began"] + line[0] / 1e6)
            elif "ROLLBACK" in tags:
                self.pending.pop(session, None)

    def note_error(self, error, is_insert):
        """Counts an error by its cause."""
        if error == REPEATED:
            self.zabbix.errors["sent again, and there"] += 1
        elif error in OF_FAILOVER:
            self.zabbix.errors[f"of the failover: {error}"] += 1
        elif is_insert:
            self.zabbix.errors[f"given up: {error}"] += 1
        else:
            self.zabbix.errors[f"other statements: {error}"] += 1

    def commit(self, session, when):
        """Notes a committed transaction's values."""
        keys = self.pending.pop(session, [])
        if keys:
            self.zabbix.acknowledged.update(keys)
            self.zabbix.times.append(when)
