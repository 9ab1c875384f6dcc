"""One Zabbix: database, server, frontend."""

import os

from . import proc
from .frontend import Frontend
from .server import Server
from .values import BINARY, FLOAT, PREFIXES, TABLES, TYPES, UINT, Value, normal

HOST = "zbxhist-e2e"

# the settings of setup(configure_zabbix => true); the plain site gets the same by hand, so
# that both show the same part of their history
SWITCH_HOUSEKEEPER = """UPDATE config SET hk_history_mode = 0,
    hk_history_global = 1, hk_trends_mode = 0, hk_trends_global = 1"""


class Site:
    """A Zabbix on one database, with zbxhist (managed) or without (plain:
    the oracle, which gets the same values)."""

    def __init__(self, cluster, directory, database, managed):
        self.cluster = cluster
        self.database = database
        self.managed = managed
        self.has_extension = False  # from set_up() to DROP EXTENSION
        self.directory = f"{directory}/{database}"
        os.makedirs(self.directory)
        self.server = self.frontend = None
        self.itemids = {}
        self.lost = set()  # keys of values older than the storage period

    def query(self, sql):
        """Runs SQL as the database's owner."""
        return self.cluster.psql(self.database, sql)

    def value(self, sql):
        """The first column of the first row."""
        return self.cluster.value(self.database, sql)

    def attach(self, release):
        """Prepares this version's server and frontend."""
        directory = f"{self.directory}/{release.version}"
        os.makedirs(directory)
        self.server = Server(release, self.cluster, self.database, directory)
        self.frontend = Frontend(release, self.cluster, self.server, directory)

    def prepare(self):
        """Before the first start: disables the hosts of the initial data, so that only our
        values arrive."""
        self.query("UPDATE hosts SET status = 1 WHERE status = 0;")
        if not self.managed:
            self.query(SWITCH_HOUSEKEEPER)

    def create_host(self, keys):
        """The host, its trapper items, two dependent ones where binary
        items exist, calculated items and triggers, all by the API."""
        api = self.frontend.api
        group = api("hostgroup.get", output=["groupid"], limit=1, sortfield="groupid")[0]["groupid"]
        self.hostid = api("host.create", host=HOST, groups=[{"groupid": group}])["hostids"][0]
        self._create_items([_trapper(key) for key in keys])
        if self.server.release.version != "6.0" and "t.bin.1" in keys:
            self.add_binary_items()
        self._create_items(_calculated())
        api("trigger.create", _triggers())

    def create_late_items(self, keys, formulas, triggers):
        """Creates more trapper items, and calculated items and triggers by their formulas,
        unless they exist."""
        items = [_trapper(key) for key in keys] + _formulas(formulas)
        self._create_items([item for item in items if item["key_"] not in self.itemids])
        there = {
            trigger["description"]
            for trigger in self.frontend.api(
                "trigger.get", hostids=[self.hostid], output=["description"]
            )
        }
        new = [
            {"description": name, "expression": expression}
            for name, expression in triggers.items()
            if name not in there
        ]
        if new:
            self.frontend.api("trigger.create", new)
        self.reload()

    def _create_items(self, items):
        """Creates items; remembers their ids by key."""
        items = [{"hostid": self.hostid, "name": item["key_"], **item} for item in items]
        for start in range(0, len(items), 100):
            part = items[start : start + 100]
            ids = self.frontend.api("item.create", part)["itemids"]
            self.itemids.update(zip((item["key_"] for item in part), ids))

    def add_binary_items(self):
        """Zabbix has binary values in dependent items only."""
        self._create_items(
            [
                {
                    "key_": "b.1",
                    "type": 18,
                    "value_type": BINARY,
                    "master_itemid": self.itemids["t.bin.1"],
                    "history": "90d",
                }
            ]
        )

    def reload(self):
        """Makes the server load the items, and waits until it has."""
        self.server.control("config_cache_reload")
        try:
            proc.wait_for(f"{self.database} to know its items", self._knows_items, 30)
        except proc.Failure as failure:
            raise proc.Failure(f"{failure}: {self.server.answer}")

    def _knows_items(self):
        """Sends a value to an item that is created last and not checked."""
        return self.server.send(HOST, [Value("canary", 1, 1, "1")])[1] == 0

    def history(self, kind):
        """{(key, clock, ns): value} of one type, as stored."""
        rows = self.query(
            f"SELECT i.key_, h.clock, h.ns, h.value FROM {TABLES[kind]} h"
            f" JOIN items i USING (itemid) WHERE i.type IN (2, 18)"
            f" AND i.key_ LIKE '{PREFIXES[kind]}.%' AND i.hostid = "
            f"(SELECT hostid FROM hosts WHERE host = '{HOST}')"
        )
        stored = {}
        for key, clock, ns, value in rows:
            position = (key, int(clock), int(ns))
            if position in stored:
                raise proc.Failure(f"{TABLES[kind]} holds {position} twice")
            stored[position] = normal(kind, value)
        return stored

    def count(self):
        """The number of our values that are stored."""
        parts = " UNION ALL ".join(
            f"SELECT itemid FROM {table}" for table in self.tables("history")
        )
        return int(
            self.value(
                f"SELECT count(*) FROM ({parts}) h JOIN items i USING (itemid)"
                f" WHERE i.type IN (2, 18) AND i.key_ ~ '^[a-z][.]'"
            )
        )

    def trends(self):
        """{(key, hour): (num, min, avg, max)} of our trapper items."""
        rows = self.query(
            " UNION ALL ".join(
                f"SELECT i.key_, t.clock, t.num, t.value_min::text,"
                f" t.value_avg::text, t.value_max::text FROM {table} t"
                f" JOIN items i USING (itemid) WHERE i.type = 2"
                f" AND i.key_ LIKE '%.trend.%'"
                for table in ("trends", "trends_uint")
            )
        )
        return {(key, int(clock)): (int(num), *rest) for key, clock, num, *rest in rows}

    def tables(self, family):
        """The tables of a family ("history", "trends") this database has."""
        return [
            row[0]
            for row in self.query(
                f"SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND"
                f" tablename ~ '^{family}(_uint|_str|_log|_text|_bin|_json)?$'"
                f" ORDER BY 1"
            )
        ]

    def problems(self):
        """The names of open problems, which the triggers have raised."""
        return sorted(
            row[0]
            for row in self.query(
                "SELECT name FROM problem WHERE source = 0 AND name NOT LIKE 'zbxhist:%'"
            )
        )

    def misplaced(self):
        """Rows that are not where list_partitions() says, by table."""
        found = {}
        for table in self.tables("history") + self.tables("trends"):
            rows = self.query(
                f"SELECT r.place, coalesce(p.partition, '{table}'::regclass),"
                f" count(*) FROM (SELECT tableoid::regclass AS place, clock"
                f" FROM {table}) r LEFT JOIN"
                f" zbxhist.list_partitions('{table}') p"
                f" ON r.clock >= p.from_clock AND r.clock < p.to_clock"
                f" WHERE r.place <> coalesce(p.partition, '{table}'::regclass)"
                # those of a packed day are in the foreign table
                f" AND (r.place <> coalesce(zbxhist_internal.packed_table('{table}'),"
                f" '{table}') OR NOT EXISTS (SELECT FROM zbxhist.packed_day d"
                f" WHERE d.parent = '{table}'::regclass AND"
                f" r.clock >= d.from_clock AND r.clock < d.to_clock))"
                f" GROUP BY 1, 2"
            )
            if rows:
                found[table] = rows
        return found

    def stop(self):
        """Stops everything; returns whether the server stopped by itself."""
        if self.frontend:
            self.frontend.stop()
        return self.server.stop() if self.server.process else True


def _trapper(key):
    """A trapper item for a key: its prefix is its value type."""
    kind = TYPES[key.split(".")[0]]
    item = {"key_": key, "type": 2, "value_type": kind, "history": "90d"}
    if kind in (FLOAT, UINT):
        item["trends"] = "365d" if ".trend." in key else "0"
    return item


def _calculated():
    """Items which make the server read history and trends by itself, also
    far back (an item without values makes it read everything)."""
    formulas = {
        "calc.sum": f"avg(/{HOST}/f.1,1h)+last(/{HOST}/u.1)",
        "calc.count": f"count(/{HOST}/u.2,30d)+count(/{HOST}/t.2,2d)",
        "calc.trend": f"trendcount(/{HOST}/f.trend.1,1d:now/d)",
    }
    return _formulas(formulas) + [
        {"key_": "canary", "type": 2, "value_type": UINT, "history": "0", "trends": "0"}
    ]


def _formulas(formulas):
    """Calculated items of these formulas."""
    return [
        {
            "key_": key,
            "type": 15,
            "value_type": FLOAT,
            "delay": "2s",
            "history": "90d",
            "trends": "365d",
            "params": formula,
        }
        for key, formula in formulas.items()
    ]


def _triggers():
    """Triggers over each way the value cache reads."""
    return [
        {"description": name, "expression": expression}
        for name, expression in {
            "any text": f"length(last(/{HOST}/t.1))>=0",
            "third value": f"last(/{HOST}/u.1,#3)>=0",
            "many": f"count(/{HOST}/f.2,1d)>1",
            "an hour ago": f"max(/{HOST}/f.3,1h:now-1h)>=-1e308",
            "never": f"last(/{HOST}/u.3)<0",
            "log": f'find(/{HOST}/l.1,1d,"like","quoted")>=0',
        }.items()
    ]
