"""What time and an administrator do to a running Zabbix: clearing, trends
over restarts, maintenance, retention, removal."""

import math
import re
import time

from .packing import Packing
from .site import HOST
from .tap import some
from .values import DAY, HOUR, TABLES


class Upkeep(Packing):
    """Each part keeps every value, except those that it removes."""

    def clear_history(self):
        """ "Clear history" of some items: by the frontend's button in 6.0 and
        by the API.  Nothing of them stays, trends included."""
        by_page, by_api = ("u.4", "u.trend.4"), ("f.4", "f.trend.4")
        for site in self.sites:
            if self.version == "6.0":
                self._clear_by_page(site, by_page)
            else:
                site.frontend.api("history.clear", [site.itemids[key] for key in by_page])
            site.frontend.api("history.clear", [site.itemids[key] for key in by_api])
        self.model.forget(lambda value: value.key in by_page + by_api)
        for site in self.sites:
            self.compare(site, "after clear history")
            left = [key for key, _ in site.trends() if key.endswith(".4")]
            self.tap.equal(left, [], self.name(site, "clear history cleared the trends, too"))

    def _clear_by_page(self, site, keys):
        """Presses "Clear history" in the list of items."""
        status, _, body = site.frontend.page(
            "items.php",
            {
                "context": "host",
                "action": "item.massclearhistory",
                "group_itemid[]": [site.itemids[key] for key in keys],
                "sid": site.frontend.form_token(),
                "hostid": site.hostid,
                "form_refresh": "1",
            },
        )
        if status != 200 or b"History cleared" not in body:
            self.tap.ok(
                False, self.name(site, "clear history by the page"), f"{status} {body[-3000:]!r}"
            )

    def trends(self):
        """Trends come at shutdown, are updated by late values after a
        restart, and are the same as on plain tables.

        Within a run of the server an item's hours only go forward: Zabbix
        7.0 itself loses trends otherwise ("duplicate key" on trends)."""
        hour = self.now - self.now % HOUR
        hours = [
            self.month(),
            hour - 20 * DAY,
            hour - 2 * DAY,
            hour - DAY,
            hour - 2 * HOUR,
            hour - HOUR,
            hour,
        ]
        for site in self.managed:
            self.make_partitions(site, "trends", self.month())
        for values, what in ((3, "written at shutdown"), (2, "updated after a restart")):
            before = self._values_of_trends()
            for each in hours:
                self.model.add(self._trend_values(each, values))
                for site in self.sites:
                    site.server.send(HOST, self.last_sent)
            for site in self.sites:
                self.settle(site, f"values for trends {what}")
            self.restart()
            self._compare_trends(what)
            more = self._values_of_trends() - before
            self.tap.equal(
                more,
                values * len(hours),
                f"{self.version}: trends" f" of an item grew by {more} values",
            )
            # from then on a month that is over is packed: a trend of it is
            # updated, and one is new
            for site in self.managed:
                self.pack(site, [self.month()], "trends")
            hours.insert(1, self.month() + HOUR)
            self.check_packed_trends()

    def _trend_values(self, hour, count):
        """Some values for one hour of the items with trends."""
        clocks = [hour + self.maker.random.randrange(HOUR) for _ in range(count)]
        self.last_sent = self.maker.at(sorted(clocks), self.trend_keys)
        return self.last_sent

    def _values_of_trends(self):
        """How many values the trends of one item on the last site tell of."""
        return sum(
            row[0] for (key, _), row in self.sites[-1].trends().items() if key == "u.trend.1"
        )

    def _compare_trends(self, what):
        """Both sites hold the same trends, and the numbers are right."""
        found = [site.trends() for site in self.sites]
        if len(found) > 1:
            differing = [
                (key, found[0].get(key), found[1].get(key))
                for key in sorted(found[0].keys() | found[1].keys())
                if not _same_trend(found[0].get(key), found[1].get(key))
            ]
            self.tap.ok(
                not differing,
                f"{self.version}: trends {what} are" " those of plain tables",
                *some("differ", differing),
            )
        model = self.model.trends()
        for site, trends in zip(self.sites, found):
            wrong = [
                (key, model[key], trends.get(key))
                for key in model
                if not _trend_fits(key, model[key], trends.get(key))
            ]
            self.tap.ok(
                not wrong,
                self.name(site, f"{len(trends)} trends {what} fit the values"),
                *some("differ", wrong),
            )
            self.check_places(site, f"trends {what}")

    def maintenance(self):
        """run_maintenance() while Zabbix runs changes no value."""
        with self.streaming("values during maintenance"):
            for site in self.managed:
                site.query("CALL zbxhist.run_maintenance();")
        for site in self.managed:
            self.check(site)

    def undo(self):
        """A table becomes plain and is managed again while Zabbix writes to it."""
        with self.streaming("values during undo()"):
            for site in self.managed:
                site.query("CALL zbxhist.undo('history_str');")
                left = site.value("SELECT count(*) FROM" " zbxhist.list_partitions('history_str')")
                self.tap.equal(
                    left, "0", self.name(site, "undo() leaves history_str without partitions")
                )
        with self.streaming("values during setup() again"):
            for site in self.managed:
                site.query("SELECT * FROM zbxhist.setup();")
                for day in self.days()[1:]:
                    self.make_partitions(site, "history", day)
                site.query("CALL zbxhist.run_maintenance();")
                self.check_managed(site)

    def audit_log(self):
        """The audit log is partitioned while Zabbix notes what is done, by 6.0 and again,
        for nothing, by 7.0; both read of it what they do of a plain one."""
        for site in self.managed:
            before = site.value("SELECT count(*) FROM auditlog")
            # it was switched off with the rest of the housekeeping, or not
            site.query(
                "SELECT * FROM zbxhist.partition_auditlog('auditlog', accept_deletion => true)"
            )
            found = site.query("SELECT count(*) FROM auditlog") + site.query(
                "SELECT relkind FROM pg_class WHERE oid = 'auditlog'::regclass"
            )
            self.tap.equal(found, [[before], ["p"]], self.name(site, "auditlog is partitioned"))
        began = int(time.time())
        told = []
        for site in self.sites:
            call = site.frontend.api
            group = call("hostgroup.create", name=f"audited {began}")["groupids"][0]
            call("hostgroup.update", groupid=group, name=f"audited {began} again")
            call("hostgroup.delete", [group])
            told.append(
                [
                    (entry["action"], entry["resourcetype"], entry["resourcename"])
                    for entry in call(
                        "auditlog.get",
                        output="extend",
                        time_from=began,
                        filter={"resourceid": group},
                        sortfield=["clock", "auditid"],
                    )
                ]
            )
            status, _, body = site.frontend.page("zabbix.php", action="auditlog.list", filter_set=1)
            self.tap.ok(
                status == 200 and f"audited {began} again".encode() in body,
                self.name(site, "the page of the audit log shows it"),
                status,
            )
        self.tap.equal(
            [len(told[0])] + told,
            [3] + [told[0]] * len(told),
            f"{self.version}: the audit logs are alike",
        )
        for site in self.managed:
            others = site.value("SELECT count(*) FROM zbxhist_partitions.auditlog_others")
            self.tap.equal(others, "0", self.name(site, "each row has its partition"))
            site.query("CALL zbxhist.run_maintenance();")

    def retention(self):
        """A day of retention passes: the storage period is set in Zabbix,
        and the day that left it is dropped with its partition."""
        old = self.midnight - 5 * DAY
        day = time.strftime("%Y-%m-%d", time.gmtime(old))
        numeric = [key for key in self.keys if key[0] in "fu" and int(key.split(".")[1]) <= 3]
        for site in self.managed:
            for table in site.tables("history"):
                site.query(f"SELECT zbxhist.create_partition('{table}'," f" '{day}')")
        self.send(
            self.maker.at((old, old + HOUR, old + DAY - 1), numeric),
            "late values for a day five days ago",
        )
        for site in self.managed:
            self._expire(site, old)
        self.send(self.maker.at((int(time.time()),)), "values after the day was dropped")

    def _expire(self, site, old):
        """Shortens the storage period; maintenance drops the old day and
        the packed one after it, and rows as old in the parent may go, too."""
        partition = time.strftime("zbxhist_partitions.history_uint_p%Y%m%d", time.gmtime(old))
        rows = int(site.value(f"SELECT count(*) FROM {partition}"))
        self.tap.ok(rows > 0, self.name(site, f"{partition}: {rows} rows"))
        end = self.midnight - 3 * DAY
        before = site.value("SELECT hk_history FROM config")
        site.frontend.api("housekeeping.update", hk_history="3d")
        # so large a part of the values that check() asks first
        for table in site.tables("history"):
            site.query(f"SELECT zbxhist.accept_deletion('{table}', to_timestamp({end}))")
        site.query("CALL zbxhist.run_maintenance();")
        left = site.query(
            "SELECT t, p.relation FROM unnest("
            f"'{{{','.join(site.tables('history'))}}}'::text[])"
            " t, zbxhist_internal.list_ranges(t::regclass) p"
            f" WHERE p.to_clock <= {end}"
        )
        self.tap.equal(left, [], self.name(site, "what is past the storage period is dropped"))
        site.lost |= {key for key in self.model.stored if key[1] < end}
        site.frontend.api("housekeeping.update", hk_history=before)
        self.compare(site, "after the day was dropped")

    def housekeeper(self):
        """Zabbix's housekeeper runs and does no harm."""
        for site in self.sites:
            mark = len(site.server.read_log())
            site.server.control("housekeeper_execute")
            site.server.wait_log(r"housekeeper \[deleted", mark)
            line = re.search(r"housekeeper \[deleted.*", site.server.read_log()[mark:]).group(0)
            self.compare(site, f"after the {line[:60]}")

    def drop_extension(self):
        """DROP EXTENSION under a running Zabbix: everything stays readable
        and values go on arriving; then it is set up again.  DROP locks the
        tables in no particular order; locked in Zabbix' order before, it
        cannot deadlock with a history syncer."""
        with self.streaming("values during DROP EXTENSION"):
            for site in self.managed:
                self.unpack(site)
                site.has_extension = False
                tables = ", ".join(self._in_order(site))
                site.query(
                    f"BEGIN; LOCK TABLE {tables};" " DROP EXTENSION zbxhist CASCADE; COMMIT;"
                )
        self.send(
            self.maker.at((int(time.time()), self.midnight + DAY)), "values after DROP EXTENSION"
        )
        with self.streaming("values during CREATE EXTENSION again"):
            for site in self.managed:
                site.query("CREATE EXTENSION zbxhist;")
                site.query("SELECT * FROM zbxhist.setup();")
                site.query("CALL zbxhist.run_maintenance();")
                site.has_extension = True

    def _in_order(self, site):
        """The tables in the order in which Zabbix writes to them."""
        there = site.tables("history") + site.tables("trends")
        return [table for table in (*TABLES.values(), "trends", "trends_uint") if table in there]


def _same_trend(one, other):
    """Whether two trends are equal.  The last digits of an average depend on
    how often Zabbix wrote the trend in between, so on its timing."""
    if not one or not other or (one[0], one[1], one[3]) != (other[0], other[1], other[3]):
        return False
    return math.isclose(float(one[2]), float(other[2]), rel_tol=1e-12)


def _trend_fits(key, model, trend):
    """Whether a stored trend has the number, minimum and maximum of the
    values (doubles as Zabbix prints them: 17 digits)."""
    if trend is None or trend[0] != model[0]:
        return False
    number = float if key[0].startswith("f") else int
    return [number(trend[1]), number(trend[3])] == model[1:]
