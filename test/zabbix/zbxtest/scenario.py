"""The whole story of a Zabbix: set-up, values of all kinds, duplicates, and
a look at the logs at the end; the rest is in reading, packing, upkeep and
monitoring."""

import re

from . import proc
from .monitoring import Monitoring
from .values import DAY, HOUR

# zabbix_server's log: every query it complains about, and what may be there
QUERY_TROUBLE = re.compile(
    r"\[Z\d{4}\]|query failed|PGRES_|database is down"
    r"|cannot (start|commit) transaction|backtrace"
    r"|Got signal \[signal:(?!15)"
    r"|skipped \d+ duplicates"
)
DUPLICATE = re.compile(
    r"\[Z3008\]|skipped \d+ duplicates|duplicate key value" r"|Key \(itemid, ?clock"
)
POSTGRES_ALLOWED = (
    r"duplicate key value violates unique constraint",
    # a process of a Zabbix that is being stopped
    r"connection to client lost",
)


class Scenario(Monitoring):
    """Each method is one part of the story; plan says in which order."""

    def set_up(self, site):
        """CREATE EXTENSION and setup() as the database's owner, who is no
        superuser."""
        site.query("CREATE EXTENSION zbxhist;")
        done = site.query(
            "SELECT * FROM zbxhist.setup(configure_zabbix => true," " accept_deletion => true)"
        )
        site.has_extension = True
        self.tap.note("\n".join("  ".join(row) for row in done))
        self.check_managed(site)
        row = site.query(
            "SELECT hk_history_mode, hk_history_global,"
            " hk_trends_mode, hk_trends_global FROM config"
        )
        self.tap.equal(
            row, [["0", "1", "0", "1"]], self.name(site, "the housekeeper leaves history alone")
        )

    def set_up_live(self):
        """The same on a Zabbix that works and has history: no value is lost,
        and the first maintenance puts today's in their place."""
        self.send(self.maker.at(self.clocks()), "values before zbxhist")
        with self.streaming("values during setup()", places=False):
            for site in self.managed:
                self.set_up(site)
        for site in self.managed:
            site.query("CALL zbxhist.run_maintenance();")
            self.check_places(site, "after setup() and maintenance")

    def check_managed(self, site):
        """Every history and trends table is a parent with partitions for
        today and after."""
        tables = site.tables("history") + site.tables("trends")
        ahead = site.query(
            "SELECT t, (SELECT count(*) FROM zbxhist.partitions"
            " WHERE parent = t::regclass AND to_clock > extract(epoch FROM now()))"
            f" FROM unnest('{{{','.join(tables)}}}'::text[]) t"
        )
        without = [table for table, count in ahead if int(count) < 2]
        self.tap.equal(
            without, [], self.name(site, f"{len(tables)} tables have partitions from today on")
        )

    def start(self, timeout=60):
        """Starts the servers and the frontends."""
        for site in self.sites:
            site.server.start(timeout)
            site.frontend.start()

    def create_items(self):
        """The same host and items everywhere, so the same item ids."""
        for site in self.sites:
            site.create_host(self.keys + self.trend_keys)
            site.reload()
        first = self.sites[0]
        self.tap.ok(
            all(site.itemids == first.itemids for site in self.sites),
            f"{self.version}: the API made {len(first.itemids)} items,"
            " with the same ids on both sites",
        )

    def clocks(self):
        """Times all over the days which have a partition and around them."""
        return sorted(
            {
                self.midnight - 1,
                self.midnight,
                self.midnight + 1,
                self.now - HOUR,
                self.now - 60,
                self.now - 1,
                self.now,
                self.midnight + DAY - 1,
                self.midnight + DAY,
                self.midnight + DAY + 12 * HOUR,
                self.midnight + 2 * DAY,
                self.midnight - DAY,
                self.midnight - DAY + 12 * HOUR,
            }
        )

    def arrival(self):
        """Today, yesterday, tomorrow; then times no partition is for.
        (Older than the storage period, so 1970, is nothing Zabbix stores.)"""
        self.send(self.maker.at(self.clocks()), "values around today")
        edge = [key for key in self.keys if key.endswith((".3", ".bin.1"))]
        far = (self.now - 20 * DAY, self.now + 400 * DAY, 2145916799, 2**31 - 1)
        self.send(self.maker.at(far, edge), "values from three weeks ago to 2038")
        for site in self.managed:
            hour = site.value(
                "SELECT partition FROM zbxhist.partitions"
                " WHERE parent = 'history_uint'::regclass AND kind = 'heap'"
                f" AND {self.now} >= from_clock AND {self.now} < to_clock"
            )
            found = int(site.value(f"SELECT count(*) FROM {hour}")) if hour else 0
            self.tap.ok(found > 0, self.name(site, f"{found} rows are in {hour}"))

    def duplicates(self):
        """Values sent again, mixed with new ones and with other values at
        the same time: the first stays, the new ones arrive, the batch is not
        lost."""
        known = self.maker.at((self.now - 7, self.midnight + 9))
        self.send(known, "values to repeat")
        again = [value._replace(value=self.maker.value(value.key)) for value in known[::3]] + known[
            1::3
        ]
        fresh = self.maker.at((self.now - 5, self.midnight - 9))
        values = again + fresh
        self.maker.random.shuffle(values)
        marks = {site: len(site.server.read_log()) for site in self.sites}
        self.send(values, f"{len(again)} duplicates among new values")
        for site in self.sites:
            site.server.wait_log(r"skipped \d+ duplicates", marks[site])
            log = site.server.read_log()[marks[site] :]
            skipped = sum(map(int, re.findall(r"skipped (\d+) duplicates", log)))
            self.tap.ok(
                "[Z3008]" in log and skipped > 0,
                self.name(site, f"Zabbix skipped duplicates itself ({skipped})"),
            )

    def check_logs(self):
        """No query of Zabbix failed, except for the duplicates."""
        for site in self.sites:
            bad = [
                line
                for line in site.server.read_log().splitlines()
                if QUERY_TROUBLE.search(line) and not DUPLICATE.search(line)
            ]
            self.tap.ok(
                not bad, self.name(site, "zabbix_server's log has no failed query"), *bad[:10]
            )
            bad = site.cluster.complaints(site.database, POSTGRES_ALLOWED)
            self.tap.ok(not bad, self.name(site, "PostgreSQL's log has no error"), *bad[:10])
            bad = [
                line
                for line in proc.tail(site.frontend.log, 100000).splitlines()
                if re.search(r"PHP (Warning|Fatal|Notice)|pg_|\[5\d\d\]", line)
            ]
            self.tap.ok(not bad, self.name(site, "PHP's log has no error"), *bad[:10])

    def stop(self):
        """Stops this version's servers and frontends."""
        for site in self.sites:
            self.tap.ok(site.stop(), self.name(site, "Zabbix stops"))
