"""From MySQL to PostgreSQL: docs/i-run-mysql.md followed as its commands stand there,
with a Zabbix that works before and another one after."""

import os
import re
import time

from . import proc
from .scenario import POSTGRES_ALLOWED, QUERY_TROUBLE
from .site import HOST, Site
from .tap import some
from .values import DAY, HOUR, TABLES, Maker, Model

DOCUMENT = os.path.realpath(
    f"{os.path.dirname(os.path.abspath(__file__))}/../../../docs/i-run-mysql.md"
)
DAYS = 6
KEYS = [f"{prefix}.{number}" for prefix in "fsltu" for number in (1, 2, 3)] + ["t.bin.1"]
TREND_KEYS = ["f.trend.1", "u.trend.1"]
DATABASE = "zabbix"
# where it is in a row of history and of trends
CLOCK = 1


class Crossing:
    """Each method is a part of the document, play() has their order."""

    def __init__(self, tap, directory, before, after):
        self.tap = tap
        self.directory = directory
        # MariaDB and Zabbix's release for it, PostgreSQL and the other one
        self.maria, self.old_release = before
        self.cluster, self.new_release = after
        self.now = int(time.time())
        self.midnight = self.now - self.now % DAY
        self.maker = Maker(KEYS, 28)
        self.model = Model(binary=True)
        self.blocks = self._read()

    def _read(self):
        """The document's commands by their kind, of these servers instead of its example."""
        with open(DOCUMENT, encoding="utf-8") as file:
            text = file.read()
        yesterday = time.strftime("%Y-%m-%d", time.gmtime(self.midnight - DAY))
        for example, here in (
            ("'mysql.example.com', port '3306'", f"'{self.maria.host}', port '{self.maria.port}'"),
            ("mysql.example.com:3306", f"{self.maria.host}:{self.maria.port}"),
            ("unix:/var/run/postgresql:5432", f"unix:{self.cluster.host}:{self.cluster.port}"),
            ("2026-11-01", yesterday),
        ):
            if example not in text:
                raise proc.Failure(f"{DOCUMENT} has no {example}")
            text = text.replace(example, here)
        blocks = {"sql": [], "mysql": [], "text": []}
        for kind, block in re.findall(
            r"^ *```(sql|mysql|text)\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL
        ):
            blocks[kind].append(block)
        return blocks

    def _follow(self, kind, name, user="zabbix", also=()):
        """The next commands of a kind; also are names of history to repeat them for."""
        block = self.blocks[kind].pop(0)
        block += "".join(block.replace("history", table) for table in also)
        if kind == "mysql":
            self.maria.psql(DATABASE, block)
        else:
            self.cluster.psql(DATABASE, block, user, timeout=1800)
        self.tap.ok(True, name)

    # ------------------------------------------------------ the old Zabbix

    def play(self):
        """The whole document."""
        self.begin()
        self.work("before", range(self.midnight - DAYS * DAY, self.now - HOUR, HOUR // 4))
        self.prepare()
        self.import_history()
        self.work("meanwhile", (self.midnight - HOUR, self.now - 90, self.now - 60))
        self.change_over()
        late = (self.midnight - HOUR // 2, self.now - 30, int(time.time()))
        self.work("after", late)
        self.told = {clock - clock % HOUR for clock in late}
        self.import_rest()
        self.compare()
        self.finish()

    def begin(self):
        """A new Zabbix on MariaDB, with a host and its items."""
        self.maria.create(DATABASE)
        for script in ("schema", "images", "data"):
            self.maria.load(DATABASE, f"{self.old_release.sql}/{script}.sql.gz")
        self.site = Site(self.maria, f"{self.directory}/old", DATABASE, managed=False)
        self.site.attach(self.old_release)
        self.site.prepare()
        self._start(self.site)
        self.site.create_host(KEYS + TREND_KEYS)
        self.site.reload()
        self.tap.ok(True, f"Zabbix {self.old_release.full_version} works on MariaDB")

    def _start(self, site):
        """Its server and its frontend."""
        site.server.start(180)
        site.frontend.start()

    def work(self, when, clocks):
        """Values at these times, for the Zabbix that works."""
        values = self.maker.at(clocks)
        # a server forgets the trends of an hour that has gone by
        values += sorted(self.maker.at(clocks, TREND_KEYS), key=lambda value: value.clock)
        failed = 0
        for start in range(0, len(values), 1000):
            failed += self.site.server.send(HOST, values[start : start + 1000])[1]
        self.model.add(values)
        self.tap.equal(failed, 0, f"{len(values)} values are taken {when}")

    # ---------------------------------------------------------- the document

    def prepare(self):
        """Steps 2 to 4."""
        self.cluster.create(DATABASE)
        self.cluster.load(DATABASE, f"{self.new_release.sql}/schema.sql.gz")
        self._follow("sql", "the new tables are taken over")
        self._follow("mysql", "the old database has a reader")
        self._follow("sql", "PostgreSQL reads it", "postgres")
        self._follow("sql", "... by foreign tables")

    def import_history(self):
        """Step 5, while the old Zabbix works."""
        self._follow("sql", "history is imported")
        self._sql("CALL zbxhist.import('old_zabbix.history_bin', 'history_bin')")
        packed = self.cluster.value(
            DATABASE, "SELECT sum(rows) FROM zbxhist.partitions WHERE kind = 'packed'"
        )
        self.tap.ok(int(packed) > 1000, f"{packed} rows are packed")

    def _sql(self, sql):
        """In the new database, as its owner."""
        return self.cluster.psql(DATABASE, sql, timeout=1800)

    def change_over(self):
        """Step 6: the old Zabbix ends, the new one begins."""
        old, self.changed_at = self.site, int(time.time())
        self.tap.ok(old.stop(), "the old Zabbix stops")
        self._load()
        self._compare_configuration()
        self.site = Site(self.cluster, f"{self.directory}/new", DATABASE, managed=True)
        self.site.itemids = old.itemids
        self.site.attach(self.new_release)
        self._start(self.site)
        self.site.reload()
        self.tap.ok(True, f"Zabbix {self.new_release.full_version} works on PostgreSQL")

    def _load(self):
        """pgloader copies the configuration."""
        script = f"{self.directory}/zabbix.load"
        with open(script, "w", encoding="utf-8") as file:
            file.write(self.blocks["text"].pop(0))
        began = time.monotonic()
        text = proc.run(
            ["pgloader", script], timeout=1800, env={**os.environ, "HOME": self.directory}
        )[1]
        self.tap.ok(
            "Total import time" in text and not re.search("ERROR|FATAL", text),
            "pgloader has no errors",
            text[-3000:],
        )
        self.tap.note(f"it took {time.monotonic() - began:.0f} seconds")

    def _compare_configuration(self):
        """Every row of every other table, as MariaDB itself tells it."""
        tables = self._old_tables("NOT LIKE 'history%'", "NOT LIKE 'trends%'")
        rows, different = 0, []
        for table in tables:
            old, new = self._rows(table)
            rows += len(old)
            if old != new:
                both = set(old) & set(new)
                different += some(f"{table}: here only", sorted(set(new) - both))
                different += some(f"{table}: there only", sorted(set(old) - both))
        self.tap.ok(
            len(tables) > 150 and rows > 10000 and not different,
            f"{rows} rows of {len(tables)} other tables are the same",
            *different[:30],
        )

    def import_rest(self):
        """Step 7."""
        others = ("history_uint", "history_str", "history_log", "history_text", "history_bin")
        self._follow("mysql", "there are views of the rest", also=others)
        self._follow("sql", "the rest is imported")
        for table in others:
            self._sql(f"CALL zbxhist.import('old_zabbix.{table}_rest', '{table}')")
        self._follow("sql", "trends are imported")

    # ------------------------------------------------------- what it is then

    def compare(self):
        """Step 8: what was sent is there, and what MariaDB tells."""
        sent = len(self.model)
        proc.wait_for("the new server to store", lambda: self.site.count() >= sent, 60)
        for kind, table in TABLES.items():
            stored, expected = self.site.history(kind), self.model.of_type(kind)
            self.tap.ok(
                stored == expected,
                f"{len(expected)} values that were sent are in {table}, each once",
                *some("missing", sorted(expected.keys() - stored.keys())),
                *some("too many", sorted(stored.keys() - expected.keys())),
            )
        total = 0
        self.told.add(self.changed_at - self.changed_at % HOUR)
        for table in self._old_tables("RLIKE '^(history|trends)'"):
            old, new = self._rows(table)
            total += len(old)
            missing = set(old) - set(new)
            if table.startswith("trends"):
                # hours that the new server has told of are as it has them
                missing = {row for row in missing if int(row[CLOCK]) not in self.told}
            more = {row for row in set(new) - set(old) if int(row[CLOCK]) < self.midnight - DAY}
            self.tap.ok(
                not missing and not more and len(new) == len(set(new)),
                f"{len(old)} rows of {table} are as MariaDB itself tells",
                *some("there only", sorted(missing)),
                *some("here only", sorted(more)),
            )
        self.tap.ok(total > 1000, f"{total} rows of history and trends")
        self._follow("sql", "both are counted and summed up")

    def _old_tables(self, *conditions):
        """The names of tables that MariaDB has."""
        where = " AND ".join(f"table_name {condition}" for condition in conditions)
        return [
            row[0]
            for row in self.maria.psql(
                DATABASE,
                "SELECT table_name FROM information_schema.tables"
                f" WHERE table_schema = '{DATABASE}' AND table_type = 'BASE TABLE' AND {where}"
                " ORDER BY 1",
            )
        ]

    def _rows(self, table):
        """What both have in a table, in order, in a form that compares."""
        columns = self.maria.psql(
            DATABASE,
            "SELECT column_name, data_type FROM information_schema.columns WHERE"
            f" table_schema = '{DATABASE}' AND table_name = '{table}' ORDER BY ordinal_position",
        )
        old = ", ".join(
            f"hex(`{name}`)" if kind.endswith("blob") else f"`{name}`" for name, kind in columns
        )
        texts = [
            f"upper(encode(\"{name}\", 'hex'))" if kind.endswith("blob") else f'"{name}"::text'
            for name, kind in columns
        ]
        new = ", ".join(f"coalesce({text}, 'NULL')" for text in texts)
        is_float = [kind == "double" for _, kind in columns]
        return [
            sorted(
                tuple(
                    float(each) if number and each != "NULL" else each
                    for each, number in zip(row, is_float)
                )
                for row in rows
            )
            for rows in (
                self.maria.psql(DATABASE, f"SELECT {old} FROM `{table}`"),
                self.cluster.psql(DATABASE, f'SELECT {new} FROM "{table}"'),
            )
        ]

    def finish(self):
        """What the new Zabbix does with it, and step 9."""
        self._sql("SELECT * FROM zbxhist.setup(configure_zabbix => true)")
        self._sql("CALL zbxhist.run_maintenance()")
        self.tap.equal(
            self._sql("SELECT object, message FROM zbxhist.check() WHERE severity = 'error'"),
            [],
            "check() has no error",
        )
        mark = len(self.site.server.read_log())
        self.site.server.control("housekeeper_execute")
        self.site.server.wait_log("housekeeper .deleted", mark)
        self._see_api()
        self._follow("sql", "what is left is removed")
        self._sql("SELECT 1 FROM zbxhist.parents")
        self.tap.equal(sum(map(len, self.blocks.values())), 0, "these were all commands")
        bad = [
            line for line in self.site.server.read_log().splitlines() if QUERY_TROUBLE.search(line)
        ]
        self.tap.ok(not bad, "the new server's log has no failed query", *bad[:10])
        bad = self.cluster.complaints(
            DATABASE, POSTGRES_ALLOWED + (r"has changed since it was read",)
        )
        self.tap.ok(not bad, "PostgreSQL's log has no error", *bad[:10])
        self.tap.ok(self.site.stop(), "the new Zabbix stops")

    def _see_api(self):
        """What the new frontend reads of an item's history."""
        key = "u.1"
        answer = self.site.frontend.api(
            "history.get",
            history=3,
            itemids=[self.site.itemids[key]],
            sortfield=["clock", "ns"],
            output="extend",
        )
        self.tap.equal(
            sorted((int(row["clock"]), int(row["ns"]), int(row["value"])) for row in answer),
            self.model.of_item(key),
            "the new frontend's API has an item's values",
        )
