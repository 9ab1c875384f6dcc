"""What people and Zabbix itself read: API, pages, graphs, triggers."""

import json
import re
import time

from . import proc
from .site import HOST
from .story import Story
from .tap import some
from .values import DAY, HOUR, TYPES, normal

# a browser's view: page, what to ask for
PAGES = {
    "problems": ("zabbix.php", {"action": "problem.view"}),
    "graphs": ("zabbix.php", {"action": "charts.view"}),
    "system information": ("zabbix.php", {"action": "report.status"}),
    "dashboard": ("zabbix.php", {"action": "dashboard.view"}),
}


class Reading(Story):
    """The reads of a Zabbix, compared with what was sent."""

    def reads(self):
        """history.get in all directions and limits; then what a browser
        asks for."""
        for site in self.sites:
            wrong = []
            for key in ("f.1", "f.3", "u.3", "s.2", "l.1", "t.1", "b.1"):
                if key in site.itemids:
                    wrong += self._history_get(site, key)
            self.tap.ok(not wrong, self.name(site, "history.get returns what was sent"), *wrong[:5])
            self._pages(site)
            self._last_values(site)
        self._same_charts(self.midnight - 2 * DAY, self.now)

    def _history_get(self, site, key, low=None, high=None):
        """Asks in several ways for one item, also for a time from low to
        high; returns the differences."""
        clip = int(time.time()) - self._history_seconds(site) + 60
        rows = [
            row
            for row in self.model.of_item(key)
            if row[0] > clip and (key, *row[:2]) not in site.lost
        ]
        if low is None:
            low, high = self.now - HOUR, self.midnight + DAY
        between = [row for row in rows if low <= row[0] <= high]
        wrong = []
        for what, expected, options in (
            ("asc", rows, {"sortorder": "ASC"}),
            ("desc", rows[::-1], {"sortorder": "DESC"}),
            ("limit", rows[:3], {"sortorder": "ASC", "limit": 3}),
            ("last", rows[:-3:-1], {"sortorder": "DESC", "limit": 2}),
            ("range", between, {"sortorder": "ASC", "time_from": low, "time_till": high}),
            (
                "late",
                between[::-1][:2],
                {"sortorder": "DESC", "limit": 2, "time_from": low, "time_till": high},
            ),
        ):
            got = self._ask(site, key, options)
            if [row[0] for row in got] != [row[0] for row in expected] or (
                "limit" not in options and sorted(got) != sorted(expected)
            ):
                wrong.append(
                    f"{key} {what}: got {str(got)[:600]}," f" expected {str(expected)[:600]}"
                )
        return wrong

    def _ask(self, site, key, options):
        """history.get of one item as [(clock, ns, value)]."""
        kind = TYPES[key.split(".")[0]]
        got = site.frontend.api(
            "history.get",
            history=kind,
            itemids=[site.itemids[key]],
            sortfield="clock",
            time_from=options.pop("time_from", 1),
            output="extend",
            **options,
        )
        return [(int(row["clock"]), int(row["ns"]), normal(kind, row["value"])) for row in got]

    def _history_seconds(self, site):
        """The storage period set in Zabbix: reads are clipped to it."""
        text = site.value("SELECT hk_history FROM config")
        unit = {"s": 1, "m": 60, "h": HOUR, "d": DAY, "w": 7 * DAY}
        if text[-1] not in unit:
            return int(text)
        return int(text[:-1]) * unit[text[-1]]

    def _last_values(self, site):
        """The last value of each item, as shown by latest data."""
        got = {
            item["key_"]: (int(item["lastclock"]), int(item["lastns"]))
            for item in site.frontend.api(
                "item.get",
                hostids=[site.hostid],
                filter={"type": 2},
                output=["key_", "lastclock", "lastns"],
            )
        }
        expected = {}
        for key, clock, ns in self.model_rows(site):
            if key[0] != "b":
                expected[key] = max(expected.get(key, (0, 0)), (clock, ns))
        wrong = [
            (key, last, got.get(key)) for key, last in expected.items() if got.get(key) != last
        ]
        self.tap.ok(
            not wrong,
            self.name(site, f"item.get knows the last value of {len(expected)} items"),
            *some("differ", wrong),
        )

    def _pages(self, site):
        """The pages that people open: no error from PHP or a query."""
        wrong = []
        for name, (path, query) in PAGES.items():
            wrong += self._page(site, name, path, query)
        wrong += self._page(
            site,
            "latest data",
            "zabbix.php",
            {
                "action": "latest.view",
                "hostids[]": site.hostid,
                "show_details": "1",
                "filter_set": "1",
            },
            contains=b">f.2<",
        )
        for key in ("f.1", "u.3", "l.1", "t.1"):
            item = site.itemids[key]
            graph = key[0] in "fu"
            wrong += self._page(
                site,
                f"history of {key}",
                "history.php",
                {
                    "action": "showgraph" if graph else "showvalues",
                    "itemids[]": item,
                    "from": "now-2d",
                    "to": "now",
                },
            )
        for from_, to in (("now-1h", "now"), ("now-7d", "now"), ("now-1y", "now")):
            wrong += self._page(
                site, f"chart from {from_}", "chart.php", self._chart(site, from_, to), "image/png"
            )
        for function in range(8):
            wrong += self._widget(site, function)
        self.tap.ok(
            not wrong,
            self.name(site, "latest data, graphs, history and problems are shown"),
            *wrong[:5],
        )

    def _widget(self, site, function):
        """Returns what is wrong with a graph of a dashboard."""
        status, answer = self.widget_answer(site, function, "now-2d", "now")
        if status != 200 or b"<path" not in answer.replace(b"\\u003C", b"<"):
            return [f"widget {function}: {status} {answer[:600]!r}"]
        return []

    def widget_answer(self, site, function, from_, to):
        """A graph of a dashboard, with one of the ways to aggregate."""
        data_set = {
            "hosts": [HOST],
            "items": ["u.*"],
            "color": "FF465C",
            "type": 0,
            "transparency": 5,
            "axisy": 0,
            "timeshift": "",
            "aggregate_function": function,
            "aggregate_interval": "1h",
            "aggregate_grouping": 0,
            "width": 1,
            "fill": 3,
            "missingdatafunc": 0,
        }
        fields = {"ds": [data_set], "graph_time": 1, "time_from": from_, "time_to": to}
        body = {
            "name": "e2e",
            "content_width": 500,
            "content_height": 300,
            "from": from_,
            "to": to,
            "preview": 1,
            "fields": json.dumps(fields),
        }
        if self.version != "6.0":
            data_set.update(dataset_type=1, aggregate_function=function)
            period = {"from": from_, "to": to}
            body.update(
                fields={"ds": [data_set], "time_period": period},
                contents_width=500,
                contents_height=300,
            )
        status, _, answer = site.frontend.page(
            "zabbix.php", body=body, action="widget.svggraph.view", sid=site.frontend.form_token()
        )
        return status, answer

    def _chart(self, site, from_, to):
        """A graph over two items."""
        return {
            "itemids[]": [site.itemids["f.2"], site.itemids["u.trend.2"]],
            "from": from_,
            "to": to,
            "type": 0,
            "width": 800,
            "height": 200,
            "profileIdx": "web.charts.filter",
        }

    def _page(self, site, what, path, query, wanted="text/html", contains=b""):
        """Returns what is wrong with a page."""
        status, kind, body = site.frontend.page(path, **query)
        if status != 200 or kind != wanted:
            return [f"{what}: {status} {kind} {body[:300]!r}"]
        if kind != "text/html":
            return []
        bad = re.search(
            rb"[^\n]{0,200}(Error in query|pg_query|SQL statement"
            rb"|Fatal error|Undefined (index|variable|array key)"
            rb"|incorrect or has expired|Access denied"
            rb"|You are not logged in)[^\n]{0,300}",
            body,
        )
        if bad:
            return [f"{what}: {bad.group(0)!r}"]
        return [] if contains in body else [f"{what}: no {contains!r}"]

    def _same_charts(self, first, last):
        """Both sites have the same values, so they must draw the same picture."""
        if len(self.sites) < 2:
            return
        from_, to = (
            time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(clock)) for clock in (first, last)
        )
        images = [
            site.frontend.page("chart.php", **self._chart(site, from_, to))[2]
            for site in self.sites
        ]
        self.tap.ok(
            images[0][:4] == b"\x89PNG" and images[0] == images[1],
            f"{self.version}: a graph from {from_} on is the same on" " both sites, byte by byte",
        )

    def calculated(self):
        """Calculated items read through the value cache and write."""
        for site in self.sites:

            def enough():
                """The items with their counts, once all have values."""
                rows = site.query(
                    "SELECT i.key_, count(h.clock), max(rt.error) FROM items i"
                    " JOIN item_rtdata rt USING (itemid) LEFT JOIN history h"
                    " USING (itemid) WHERE i.type = 15 AND i.hostid ="
                    f" {site.hostid} GROUP BY 1 ORDER BY 1"
                )
                return rows if all(int(row[1]) > 1 for row in rows) else None

            try:
                rows = proc.wait_for("calculated items", enough, 30)
            except proc.Failure:
                rows = site.query(
                    "SELECT i.key_, rt.state, rt.error FROM"
                    " items i JOIN item_rtdata rt USING (itemid)"
                    f" WHERE i.hostid = {site.hostid} AND"
                    " i.type = 15"
                )
                self.tap.ok(False, self.name(site, "calculated items"), rows)
                continue
            self.tap.ok(
                not any(row[2] for row in rows),
                self.name(site, "calculated items read and write"),
                rows,
            )
        self._compare_problems()

    def _compare_problems(self):
        """Each server calculates triggers with time functions when it comes to it."""
        problems = []

        def same():
            problems[:] = [site.problems() for site in self.sites]
            return problems[0] and problems.count(problems[0]) == len(problems)

        try:
            proc.wait_for("the same problems", same, 90, pause=1)
        except proc.Failure as failure:
            self.tap.note(failure)
        self.tap.ok(
            same(),
            f"{self.version}: the triggers say the same",
            *(f"{site.database}: {found}" for site, found in zip(self.sites, problems)),
        )
