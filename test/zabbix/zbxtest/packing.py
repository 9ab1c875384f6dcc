"""Past days are packed while Zabbix runs: its server and frontend read and change them as in a
plain table."""

import re
import time

from . import proc
from .reading import Reading
from .site import HOST
from .tap import some
from .values import DAY, HOUR, PREFIXES, TABLES, TYPES, Value

# items and triggers whose functions reach days back; no value is at the limits of their
# times, where Zabbix compares nanoseconds with those of the evaluation
CALCULATED = {
    "calc.packed.count": f"count(/{HOST}/u.3,47h:now/d-23h)",
    "calc.packed.avg": f"avg(/{HOST}/f.2,47h:now/d-23h)",
    "calc.packed.max": f"max(/{HOST}/u.2,30h:now/d-23h)",
    "calc.packed.last": f"last(/{HOST}/f.1,#1:now/d-23h)",
}
TRIGGER = "packed days"
EXPRESSION = (
    f"count(/{HOST}/u.3,5d)>5 and avg(/{HOST}/f.3,5d)<>0.123"
    f" and max(/{HOST}/u.2,30h:now/d-23h)>=0"
)


class Packing(Reading):
    """Each part leaves the same values on both sites."""

    def days(self):
        """The first seconds of three past days."""
        return [self.midnight - back * DAY for back in (4, 3, 2)]

    def month(self):
        """An hour in a past month."""
        return self.now - self.now % HOUR - 75 * DAY

    def doomed(self):
        """The keys of items that will be deleted with their values."""
        return [
            f"{prefix}.gone.{self.version}"
            for kind, prefix in PREFIXES.items()
            if TABLES[kind] != "history_bin"
        ]

    def packing(self):
        """Values for past days arrive, as from a proxy that was offline; maintenance packs
        these days while others arrive."""
        for site in self.sites:
            # by default latest data looks back only a day
            site.frontend.api("settings.update", history_period="7d")
            # by default 7.0 stores nothing older than 31 days
            site.frontend.api("housekeeping.update", hk_history="90d")
            site.create_late_items(self.doomed(), CALCULATED, {TRIGGER: EXPRESSION})
        for site in self.managed:
            for day in self.days():
                self.make_partitions(site, "history", day)
        clocks = [day + at for day in self.days() for at in (0, 7 * HOUR + 1, DAY - 1)]
        self.send(self.maker.at(clocks, self.keys + self.doomed()), "values of days gone by")
        with self.streaming("values while days are packed"):
            for site in self.managed:
                self.pack(site, self.days())
        for site in self.managed:
            self.check(site)

    def make_partitions(self, site, family, clock):
        """Creates the partitions of past times, which nobody else does."""
        day = time.strftime("%Y-%m-%d", time.gmtime(clock))
        for table in site.tables(family):
            site.query(f"SELECT zbxhist.create_partition('{table}', '{day}')")

    def pack(self, site, clocks, family="history"):
        """Runs maintenance, again if a snapshot was in its way, until everything with one of
        these clocks is packed."""
        left = []

        def are_packed():
            """Is nothing left to be packed?"""
            site.query("CALL zbxhist.run_maintenance();")
            left[:] = site.query(
                f"SELECT p.partition FROM unnest('{{"
                f"{','.join(site.tables(family))}}}'::text[]) t,"
                f" zbxhist.list_partitions(t::regclass) p,"
                f" unnest(ARRAY{clocks}) c"
                f" WHERE c >= p.from_clock AND c < p.to_clock"
            )
            return not left

        try:
            proc.wait_for("days to be packed", are_packed, 30, 1)
        except proc.Failure as failure:
            self.tap.note(failure)
        self.tap.equal(left, [], self.name(site, "maintenance packs what is over"))
        rows = site.value("SELECT sum(nrows) FROM zbxhist.packed_day")
        self.tap.ok(int(rows or 0) > 0, self.name(site, f"{rows} values are packed"))

    def packed_reads(self):
        """The frontend shows packed days: API, pages and graphs."""
        first, last = self.days()[1], self.days()[2] + DAY - 1
        self._packed_history(first, last)
        for site in self.sites:
            self._last_values(site)
            self._packed_pages(site, first, last)
        self._same_charts(first, last)
        self._same_widgets(first, last)

    def _packed_history(self, first, last):
        """history.get of times that begin or end within a packed day."""
        for site in self.sites:
            wrong = []
            for key in ("f.1", "f.3", "u.3", "s.2", "l.1", "t.1"):
                for low, high in ((first, last), (first + 1, last - 1), (last, self.now)):
                    wrong += self._history_get(site, key, low, high)
            self.tap.ok(not wrong, self.name(site, "history.get returns packed values"), *wrong[:5])

    def _packed_pages(self, site, first, last):
        """History of items, and latest data of those without newer values."""
        period = {"from": _moment(first), "to": _moment(last)}
        wrong = []
        for key in ("f.1", "u.3", "l.1", "t.1", "s.2"):
            graph = key[0] in "fu"
            wrong += self._page(
                site,
                f"history of {key}",
                "history.php",
                {
                    "action": "showgraph" if graph else "showvalues",
                    "itemids[]": site.itemids[key],
                    **period,
                },
            )
        wrong += self._page(
            site,
            "latest data",
            "zabbix.php",
            {
                "action": "latest.view",
                "hostids[]": site.hostid,
                "name": ".gone.",
                "show_details": "1",
                "filter_set": "1",
            },
            contains=b".gone.",
        )
        self.tap.ok(not wrong, self.name(site, "pages show packed days"), *wrong[:5])

    def _same_widgets(self, first, last):
        """A dashboard's graphs have the same lines on both sites."""
        for function in (0, 3, 6):  # none, average, first value
            lines = []
            for site in self.sites:
                body = self.widget_answer(site, function, _moment(first), _moment(last))[1]
                lines.append(
                    re.findall(
                        r'<path[^>]* d=\\?"[^"]*"',
                        body.decode().replace("\\u003C", "<").replace("\\/", "/"),
                    )
                )
            self.tap.ok(
                lines[0] and lines.count(lines[0]) == len(lines),
                f"{self.version}: a dashboard's graph {function} of"
                " packed days is the same on both sites",
                *(str(line)[:600] for line in lines),
            )

    def packed_triggers(self):
        """After a restart the value cache is empty, so functions over days read packed
        values."""
        self.restart()
        since = int(time.time())
        for site in self.sites:
            site.reload()
        self.send(self.maker.at((since,), ["f.3", "u.2", "u.3"]), "values that fire triggers")
        found = [self._calculated(site, since) for site in self.sites]
        self.tap.ok(
            found[0] and found.count(found[0]) == len(found),
            f"{self.version}: calculated items say the same of" " packed days",
            *found,
        )
        for site in self.sites:
            try:
                proc.wait_for(
                    f"the trigger on {site.database}", lambda: TRIGGER in site.problems(), 20
                )
            except proc.Failure as failure:
                self.tap.note(failure)
            self.tap.ok(
                TRIGGER in site.problems(),
                self.name(site, "a trigger over days fires"),
                site.problems(),
            )

    def _calculated(self, site, since):
        """The current values of the calculated items, as text."""

        def values():
            """The values by key, once each item has one."""
            rows = site.query(
                "SELECT DISTINCT i.key_, h.value FROM items i JOIN history h"
                " USING (itemid) WHERE i.key_ LIKE 'calc.packed.%'"
                f" AND h.clock > {since} ORDER BY 1, 2"
            )
            keys = {row[0] for row in rows}
            return rows if keys == set(CALCULATED) else None

        try:
            return proc.wait_for("calculated items", values, 30)
        except proc.Failure as failure:
            return f"{failure}: " + str(
                site.query(
                    "SELECT i.key_, rt.error FROM items i JOIN item_rtdata rt"
                    " USING (itemid) WHERE i.key_ LIKE 'calc.packed.%'"
                )
            )

    def late_values(self):
        """New and existing values arrive for packed days: each is stored once, and maintenance
        packs the new ones."""
        first, last = self.days()[1:]
        known = [
            Value(*key, value)
            for key, value in self.model.stored.items()
            if key[0] in self.keys and last <= key[1] < last + DAY
        ]
        self.maker.random.shuffle(known)
        again = [value._replace(value=self.maker.value(value.key)) for value in known[:60]] + known[
            60:120
        ]
        values = again + self.maker.at((first, first + HOUR, last + 7 * HOUR + 1, self.now - 3))
        self.maker.random.shuffle(values)
        marks = {site: len(site.server.read_log()) for site in self.sites}
        self.send(values, f"late values, {len(again)} of them packed already")
        for site in self.sites:
            site.server.wait_log(r"skipped \d+ duplicates", marks[site])
        for site in self.managed:
            waiting = self._waiting(site, first, last + DAY)
            self.tap.ok(
                waiting > 0, self.name(site, f"{waiting} late values wait in the tables themselves")
            )
            self.pack(site, [first, last])
            self.tap.equal(
                self._waiting(site, first, last + DAY),
                0,
                self.name(site, "maintenance packs them, too"),
            )
        for site in self.sites:
            self.compare(site, "after late values were packed")
        self._packed_history(first, last + DAY - 1)

    def _waiting(self, site, low, high):
        """The number of rows of a time in the parents themselves."""
        return int(
            site.value(
                "SELECT "
                + " + ".join(
                    f"(SELECT count(*) FROM ONLY {table} WHERE clock >= {low}"
                    f" AND clock < {high})"
                    for table in site.tables("history")
                )
            )
        )

    def delete_items(self):
        """Items are deleted, and Zabbix's housekeeper, switched on again, deletes their values,
        also packed ones."""
        ids = {site: [site.itemids.pop(key) for key in self.doomed()] for site in self.sites}
        self.model.forget(lambda value: value.key in self.doomed())
        for site in self.sites:
            before = self._values_of(site, ids[site])
            self.tap.ok(before > 0, self.name(site, f"{before} values of items to be deleted"))
            # the frontend also checks whether it is on
            self._switch_housekeeper(site, 1)
            site.frontend.api("item.delete", ids[site])
            try:
                proc.wait_for(
                    "the housekeeper to delete values",
                    lambda: self._housekeep(site, ids[site]),
                    60,
                    1,
                )
            except proc.Failure as failure:
                self.tap.note(failure)
            self.tap.equal(
                self._values_of(site, ids[site]),
                0,
                self.name(site, "the housekeeper deletes values of deleted items"),
            )
            self._switch_housekeeper(site, 0)
            self.compare(site, "after the housekeeper's deletes")

    def _switch_housekeeper(self, site, mode):
        """Switches Zabbix's housekeeper of history and trends on or off."""
        site.frontend.api("housekeeping.update", hk_history_mode=mode, hk_trends_mode=mode)
        mark = len(site.server.read_log())
        site.server.control("config_cache_reload")
        site.server.wait_log(r"reloading of the configuration cache", mark)

    def _housekeep(self, site, ids):
        """Runs the housekeeper; returns whether all values of the items are gone."""
        mark = len(site.server.read_log())
        site.server.control("housekeeper_execute")
        site.server.wait_log(r"housekeeper \[deleted", mark)
        return self._values_of(site, ids) == 0

    def _values_of(self, site, ids):
        """The number of values and trends of some items."""
        return int(
            site.value(
                "SELECT "
                + " + ".join(
                    f"(SELECT count(*) FROM {table} WHERE itemid IN" f" ({','.join(ids)}))"
                    for table in site.tables("history") + site.tables("trends")
                )
            )
        )

    def check_packed_trends(self):
        """trend.get of a packed month returns what the values were."""
        model = {
            key: value
            for key, value in self.model.trends().items()
            if key[1] in (self.month(), self.month() + HOUR)
        }
        keys = sorted({key for key, _ in model})
        for site in self.sites:
            got = {}
            for row in site.frontend.api(
                "trend.get",
                itemids=[site.itemids[key] for key in keys],
                time_from=self.month(),
                time_till=self.month() + 2 * HOUR,
                output="extend",
            ):
                key = next(k for k in keys if site.itemids[k] == row["itemid"])
                number = float if TYPES[key[0]] == 0 else int
                got[key, int(row["clock"])] = [
                    int(row["num"]),
                    number(row["value_min"]),
                    number(row["value_max"]),
                ]
            wrong = [(key, model[key], got.get(key)) for key in model if model[key] != got.get(key)]
            self.tap.ok(
                model and not wrong,
                self.name(
                    site, f"trend.get returns {len(model)} trends of a month that" " is over"
                ),
                *some("differ", wrong),
            )

    def unpack(self, site):
        """Unpacks all days, as is necessary before DROP EXTENSION."""
        for parent, day in site.query(
            "SELECT DISTINCT parent, to_char(to_timestamp(from_clock) AT TIME ZONE"
            " 'UTC', 'YYYY-MM-DD') FROM zbxhist.packed_day ORDER BY 1, 2"
        ):
            site.query(f"CALL zbxhist.unpack('{parent}', '{day}');")
        left = site.value("SELECT count(*) FROM zbxhist.packed_day")
        self.tap.equal(left, "0", self.name(site, "all days are unpacked"))


def _moment(clock):
    """A time in the form of the frontend's period selector."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(clock))
