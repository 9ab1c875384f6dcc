"""The checks: each method is one part of the story of a Zabbix."""

import contextlib
import json
import re
import threading
import time

from . import proc
from .site import HOST
from .values import DAY, FLOAT, HOUR, TABLES, TYPES, UINT, Maker, Model, Value, normal

# zabbix_server's log: every query it complains about, and what may be there
QUERY_TROUBLE = re.compile(r"\[Z\d{4}\]|query failed|PGRES_|database is down"
                           r"|cannot (start|commit) transaction|backtrace"
                           r"|Got signal \[signal:(?!15)|skipped \d+ duplicates")
DUPLICATE = re.compile(r"\[Z3008\]|skipped \d+ duplicates|duplicate key value"
                       r"|Key \(itemid, ?clock")
POSTGRES_ALLOWED = (r"duplicate key value violates unique constraint",)

# a browser's view: page, what to ask for
PAGES = {
    "problems": ("zabbix.php", {"action": "problem.view"}),
    "graphs": ("zabbix.php", {"action": "charts.view"}),
    "system information": ("zabbix.php", {"action": "report.status"}),
    "dashboard": ("zabbix.php", {"action": "dashboard.view"}),
}


class Scenario:
    """Takes the sites (the plain oracle and the managed one) through the
    same story and compares them with each other and with what was sent."""

    def __init__(self, tap, version, sites, quick):
        self.tap = tap
        self.version = version
        self.sites = sites
        self.managed = [site for site in sites if site.managed]
        self.model = Model(binary=version != "6.0")
        self.now = int(time.time())
        self.midnight = self.now - self.now % DAY
        self.keys = self._keys(4 if quick else 150)
        self.trend_keys = [f"{prefix}.trend.{i}" for prefix in "fu"
                           for i in range(1, 5 if quick else 31)]
        self.maker = Maker(self.keys, f"{version} {quick}")

    def _keys(self, count):
        """The items: many numeric ones, so that batches are long.  They have
        no trends, since their values come in any order: see trends()."""
        keys = [f"{prefix}.{i}" for prefix in "fu" for i in range(1, count + 1)]
        keys += [f"{prefix}.{i}" for prefix in "slt" for i in range(1, 11)]
        return keys + ["t.bin.1"]

    def name(self, site, text):
        """A test point's name."""
        return f"{self.version} {site.database}: {text}"

    # --- starting -----------------------------------------------------------

    def set_up(self, site):
        """CREATE EXTENSION and setup() as the database's owner, who is no
        superuser."""
        site.query("CREATE EXTENSION zbxhist;")
        done = site.query("SELECT * FROM zbxhist.setup("
                          "configure_zabbix => true)")
        site.has_extension = True
        self.tap.note("\n".join("  ".join(row) for row in done))
        self.check_managed(site)
        row = site.query("SELECT hk_history_mode, hk_history_global,"
                         " hk_trends_mode, hk_trends_global FROM config")
        self.tap.equal(row, [["0", "1", "0", "1"]],
                       self.name(site, "the housekeeper leaves history alone"))

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
            "SELECT t, (SELECT count(*) FROM zbxhist.list_partitions("
            "t::regclass) WHERE to_clock > extract(epoch FROM now()))"
            f" FROM unnest('{{{','.join(tables)}}}'::text[]) t")
        without = [table for table, count in ahead if int(count) < 2]
        self.tap.equal(without, [], self.name(
            site, f"{len(tables)} tables have partitions from today on"))

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
        self.tap.ok(all(site.itemids == first.itemids for site in self.sites),
                    f"{self.version}: the API made {len(first.itemids)} items,"
                    " with the same ids on both sites")

    # --- values -------------------------------------------------------------

    def send(self, values, what):
        """Sends values to all sites and waits until all are stored."""
        self.model.add(values)
        for site in self.sites:
            counts = site.server.send(HOST, values)
            if counts != (len(values), 0):
                self.tap.ok(False, self.name(site, f"{what}: all are taken"),
                            f"processed, failed: {counts} of {len(values)}")
        for site in self.sites:
            self.settle(site, what)

    @contextlib.contextmanager
    def streaming(self, what, places=True):
        """Values keep coming while the body does something; at the end all
        of them must be stored (and in their places)."""
        ended, sent = threading.Event(), []
        maker = Maker(self.keys, what)

        def stream():
            """Sends a value for some items, again and again."""
            while not ended.is_set():
                keys = maker.random.sample(self.keys, len(self.keys) // 2)
                values = maker.at((int(time.time()),), keys)
                sent.extend(values)
                for site in self.sites:
                    site.server.send(HOST, values)

        thread = threading.Thread(target=stream)
        thread.start()
        try:
            yield
            time.sleep(1)           # and a little after it
        finally:
            ended.set()
            thread.join()
        self.model.add(sent)
        for site in self.sites:
            self.settle(site, what, places)

    def settle(self, site, what, places=True):
        """Waits for the values, then compares every row."""
        expected = len(self._model_rows(site))
        try:
            proc.wait_for(f"{expected} values in {site.database}",
                          lambda: site.count() >= expected, 45)
        except proc.Failure as failure:
            self.tap.note(failure)
        self.compare(site, what)
        if places:
            self.check_places(site, what)

    def _model_rows(self, site):
        """The model, without the types this database does not have and the
        values which left it with their day."""
        types = site.tables("history")
        return [key for key in self.model.stored if key not in site.lost
                and TABLES[TYPES[key[0].split(".")[0]]] in types]

    def compare(self, site, what):
        """What is stored is what was sent: no row lost, none twice, each
        where it belongs."""
        wanted = set(self._model_rows(site))
        missing, extra, differing = [], [], []
        for kind, table in TABLES.items():
            if table not in site.tables("history"):
                continue
            model = {key: value for key, value
                     in self.model.of_type(kind).items() if key in wanted}
            stored = site.history(kind)
            missing += sorted(model.keys() - stored.keys())
            extra += sorted(stored.keys() - model.keys() - site.lost)
            differing += [(key, model[key], stored[key]) for key in
                          model.keys() & stored.keys()
                          if model[key] != stored[key]]
        self.tap.ok(not missing and not extra and not differing,
                    self.name(site, f"{what}: {len(wanted)} values stored,"
                              " each once and unchanged"),
                    *_some("missing", missing), *_some("not sent", extra),
                    *_some("differing", differing))
        return not (missing or extra or differing)

    def check_places(self, site, what):
        """Each row is in the partition of its time, else in the parent."""
        if site.has_extension:
            self.tap.equal(site.misplaced(), {}, self.name(
                site, f"{what}: each row is in its partition"))

    def clocks(self):
        """Times all over the days which have a partition and around them."""
        return sorted({
            self.midnight - 1, self.midnight, self.midnight + 1,
            self.now - HOUR, self.now - 60, self.now - 1, self.now,
            self.midnight + DAY - 1, self.midnight + DAY,
            self.midnight + DAY + 12 * HOUR, self.midnight + 2 * DAY,
            self.midnight - DAY, self.midnight - DAY + 12 * HOUR})

    def arrival(self):
        """Today, yesterday, tomorrow; then times no partition is for.
        (Older than the storage period, so 1970, is nothing Zabbix stores.)"""
        self.send(self.maker.at(self.clocks()), "values around today")
        edge = [key for key in self.keys if key.endswith((".3", ".bin.1"))]
        self.send(self.maker.at((self.now - 20 * DAY, self.now + 400 * DAY,
                                 2145916799, 2 ** 31 - 1), edge),
                  "values from three weeks ago to 2038")
        for site in self.managed:
            day = time.strftime("history_uint_p%Y%m%d",
                                time.gmtime(self.now))
            found = int(site.value(f"SELECT count(*) FROM public.{day}"))
            self.tap.ok(found > 0, self.name(
                site, f"{found} values are in {day}"))

    def duplicates(self):
        """Values sent again, mixed with new ones and with other values at
        the same time: the first stays, the new ones arrive, the batch is not
        lost."""
        known = self.maker.at((self.now - 7, self.midnight + 9))
        self.send(known, "values to repeat")
        again = [value._replace(value=self.maker.value(value.key))
                 for value in known[::3]] + known[1::3]
        fresh = self.maker.at((self.now - 5, self.midnight - 9))
        values = again + fresh
        self.maker.random.shuffle(values)
        marks = {site: len(site.server.read_log()) for site in self.sites}
        self.send(values, f"{len(again)} duplicates among new values")
        for site in self.sites:
            site.server.wait_log(r"skipped \d+ duplicates", marks[site])
            log = site.server.read_log()[marks[site]:]
            skipped = sum(map(int, re.findall(r"skipped (\d+) duplicates",
                                              log)))
            self.tap.ok("[Z3008]" in log and skipped > 0, self.name(
                site, f"Zabbix skipped duplicates itself ({skipped})"))

    def calculated(self):
        """Calculated items read through the value cache and write."""
        for site in self.sites:
            def enough():
                rows = site.query(
                    "SELECT i.key_, count(h.clock), max(rt.error) FROM items i"
                    " JOIN item_rtdata rt USING (itemid) LEFT JOIN history h"
                    " USING (itemid) WHERE i.type = 15 AND i.hostid ="
                    f" {site.hostid} GROUP BY 1 ORDER BY 1")
                return rows if all(int(row[1]) > 1 for row in rows) else None
            try:
                rows = proc.wait_for("calculated items", enough, 30)
            except proc.Failure:
                rows = site.query("SELECT i.key_, rt.state, rt.error FROM"
                                  " items i JOIN item_rtdata rt USING (itemid)"
                                  f" WHERE i.hostid = {site.hostid} AND"
                                  " i.type = 15")
                self.tap.ok(False, self.name(site, "calculated items"), rows)
                continue
            self.tap.ok(not any(row[2] for row in rows), self.name(
                site, "calculated items read and write"), rows)
        problems = [site.problems() for site in self.sites]
        self.tap.ok(problems[0] and problems.count(problems[0]) == len(problems),
                    f"{self.version}: the triggers say the same",
                    *(f"{site.database}: {found}" for site, found
                      in zip(self.sites, problems)))

    # --- reading ------------------------------------------------------------

    def reads(self):
        """history.get in all directions and limits; then what a browser
        asks for."""
        for site in self.sites:
            wrong = []
            for key in ("f.1", "f.3", "u.3", "s.2", "l.1", "t.1", "b.1"):
                if key in site.itemids:
                    wrong += self._history_get(site, key)
            self.tap.ok(not wrong, self.name(
                site, "history.get returns what was sent"), *wrong[:5])
            self._pages(site)
            self._last_values(site)
        self._same_charts()

    def _history_get(self, site, key):
        """Asks in several ways for one item; returns the differences."""
        clip = int(time.time()) - self._history_seconds(site) + 60
        rows = [row for row in self.model.of_item(key) if row[0] > clip
                and (key, *row[:2]) not in site.lost]
        low, high = self.now - HOUR, self.midnight + DAY
        between = [row for row in rows if low <= row[0] <= high]
        wrong = []
        for what, expected, options in (
                ("asc", rows, {"sortorder": "ASC"}),
                ("desc", rows[::-1], {"sortorder": "DESC"}),
                ("limit", rows[:3], {"sortorder": "ASC", "limit": 3}),
                ("last", rows[:-3:-1], {"sortorder": "DESC", "limit": 2}),
                ("range", between, {"sortorder": "ASC", "time_from": low,
                                    "time_till": high}),
                ("late", between[::-1][:2], {
                    "sortorder": "DESC", "limit": 2, "time_from": low,
                    "time_till": high})):
            got = self._ask(site, key, options)
            if [row[0] for row in got] != [row[0] for row in expected] or (
                    "limit" not in options and sorted(got) != sorted(expected)):
                wrong.append(f"{key} {what}: got {str(got)[:600]},"
                             f" expected {str(expected)[:600]}")
        return wrong

    def _ask(self, site, key, options):
        """history.get of one item as [(clock, ns, value)]."""
        kind = TYPES[key.split(".")[0]]
        got = site.frontend.api("history.get", history=kind,
                                itemids=[site.itemids[key]], sortfield="clock",
                                time_from=options.pop("time_from", 1),
                                output="extend", **options)
        return [(int(row["clock"]), int(row["ns"]),
                 normal(kind, row["value"])) for row in got]

    def _history_seconds(self, site):
        """The storage period set in Zabbix: reads are clipped to it."""
        text = site.value("SELECT hk_history FROM config")
        unit = {"s": 1, "m": 60, "h": HOUR, "d": DAY, "w": 7 * DAY}
        return int(text[:-1]) * unit[text[-1]] if text[-1] in unit else int(text)

    def _last_values(self, site):
        """The last value of each item, as latest data shows it."""
        got = {item["key_"]: (int(item["lastclock"]), int(item["lastns"]))
               for item in site.frontend.api(
                   "item.get", hostids=[site.hostid], filter={"type": 2},
                   output=["key_", "lastclock", "lastns"])}
        expected = {}
        for key, clock, ns in self._model_rows(site):
            if key[0] != "b":
                expected[key] = max(expected.get(key, (0, 0)), (clock, ns))
        wrong = [(key, last, got.get(key)) for key, last in expected.items()
                 if got.get(key) != last]
        self.tap.ok(not wrong, self.name(
            site, f"item.get knows the last value of {len(expected)} items"),
            *_some("differ", wrong))

    def _pages(self, site):
        """The pages a person opens: no error from PHP or from a query."""
        wrong = []
        for name, (path, query) in PAGES.items():
            wrong += self._page(site, name, path, query)
        wrong += self._page(site, "latest data", "zabbix.php", {
            "action": "latest.view", "hostids[]": site.hostid,
            "show_details": "1", "filter_set": "1"}, contains=b">f.2<")
        for key in ("f.1", "u.3", "l.1", "t.1"):
            item = site.itemids[key]
            graph = key[0] in "fu"
            wrong += self._page(site, f"history of {key}", "history.php", {
                "action": "showgraph" if graph else "showvalues",
                "itemids[]": item, "from": "now-2d", "to": "now"})
        for from_, to in (("now-1h", "now"), ("now-7d", "now"),
                          ("now-1y", "now")):
            wrong += self._page(site, f"chart from {from_}", "chart.php",
                                self._chart(site, from_, to), "image/png")
        for function in range(8):
            wrong += self._widget(site, function)
        self.tap.ok(not wrong, self.name(
            site, "latest data, graphs, history and problems are shown"),
            *wrong[:5])

    def _widget(self, site, function):
        """A graph of a dashboard, with each way to aggregate."""
        data_set = {"hosts": [HOST], "items": ["u.*"], "color": "FF465C",
                    "type": 0, "transparency": 5, "axisy": 0,
                    "timeshift": "", "aggregate_function": function,
                    "aggregate_interval": "1h", "aggregate_grouping": 0,
                    "width": 1, "fill": 3, "missingdatafunc": 0}
        fields = {"ds": [data_set], "graph_time": 1, "time_from": "now-2d",
                  "time_to": "now"}
        body = {"name": "e2e", "content_width": 500, "content_height": 300,
                "from": "now-2d", "to": "now", "preview": 1,
                "fields": json.dumps(fields)}
        if self.version != "6.0":
            data_set.update(dataset_type=1, aggregate_function=function)
            period = {"from": "now-2d", "to": "now"}
            body.update(fields={"ds": [data_set], "time_period": period},
                        contents_width=500, contents_height=300)
        status, _, answer = site.frontend.page(
            "zabbix.php", body=body, action="widget.svggraph.view",
            sid=site.frontend.form_token())
        if status != 200 or b"<path" not in answer.replace(b"\\u003C", b"<"):
            return [f"widget {function}: {status} {answer[:600]!r}"]
        return []

    def _chart(self, site, from_, to):
        """A graph over two items."""
        return {"itemids[]": [site.itemids["f.2"], site.itemids["u.trend.2"]],
                "from": from_, "to": to, "type": 0, "width": 800,
                "height": 200, "profileIdx": "web.charts.filter"}

    def _page(self, site, what, path, query, wanted="text/html",
              contains=b""):
        """Returns what is wrong with a page."""
        status, kind, body = site.frontend.page(path, **query)
        if status != 200 or kind != wanted:
            return [f"{what}: {status} {kind} {body[:300]!r}"]
        if kind != "text/html":
            return []
        bad = re.search(rb"[^\n]{0,200}(Error in query|pg_query|SQL statement"
                        rb"|Fatal error|Undefined (index|variable|array key)"
                        rb"|incorrect or has expired|Access denied"
                        rb"|You are not logged in)[^\n]{0,300}", body)
        if bad:
            return [f"{what}: {bad.group(0)!r}"]
        return [] if contains in body else [f"{what}: no {contains!r}"]

    def _same_charts(self):
        """Both sites have the same values, so they draw the same picture."""
        if len(self.sites) < 2:
            return
        from_, to = (time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(clock))
                     for clock in (self.midnight - 2 * DAY, self.now))
        images = [site.frontend.page("chart.php",
                                     **self._chart(site, from_, to))[2]
                  for site in self.sites]
        self.tap.ok(images[0][:4] == b"\x89PNG" and images[0] == images[1],
                    f"{self.version}: a graph is the same on both sites,"
                    " byte by byte")

    # --- clearing and trends ------------------------------------------------

    def clear_history(self):
        """"Clear history" of some items: by the frontend's button in 6.0 and
        by the API.  Nothing of them stays, trends included."""
        by_page, by_api = ("u.4", "u.trend.4"), ("f.4", "f.trend.4")
        for site in self.sites:
            if self.version == "6.0":
                self._clear_by_page(site, by_page)
            else:
                site.frontend.api("history.clear", [site.itemids[key]
                                                    for key in by_page])
            site.frontend.api("history.clear", [site.itemids[key]
                                                for key in by_api])
        self.model.forget(lambda value: value.key in by_page + by_api)
        for site in self.sites:
            self.compare(site, "after clear history")
            left = [key for key, _ in site.trends() if key.endswith(".4")]
            self.tap.equal(left, [], self.name(
                site, "clear history cleared the trends, too"))

    def _clear_by_page(self, site, keys):
        """Presses "Clear history" in the list of items."""
        status, _, body = site.frontend.page("items.php", {
            "context": "host", "action": "item.massclearhistory",
            "group_itemid[]": [site.itemids[key] for key in keys],
            "sid": site.frontend.form_token(), "hostid": site.hostid, "form_refresh": "1"})
        if status != 200 or b"History cleared" not in body:
            self.tap.ok(False, self.name(site, "clear history by the page"),
                        f"{status} {body[-3000:]!r}")

    def trends(self):
        """Trends come at shutdown, are updated by late values after a
        restart, and are the same as on plain tables.

        Within a run of the server an item's hours only go forward: Zabbix
        7.0 itself loses trends otherwise ("duplicate key" on trends)."""
        hour = self.now - self.now % HOUR
        hours = (hour - 20 * DAY, hour - 2 * DAY, hour - DAY, hour - 2 * HOUR,
                 hour - HOUR, hour)
        for values, what in ((3, "written at shutdown"),
                             (2, "updated after a restart")):
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
            self.tap.equal(more, values * len(hours), f"{self.version}: trends"
                           f" of an item grew by {more} values")

    def _trend_values(self, hour, count):
        """Some values for one hour of the items with trends."""
        clocks = [hour + self.maker.random.randrange(HOUR)
                  for _ in range(count)]
        self.last_sent = self.maker.at(sorted(clocks), self.trend_keys)
        return self.last_sent

    def _values_of_trends(self):
        """How many values the trends of one item on the last site tell of."""
        return sum(row[0] for (key, _), row in self.sites[-1].trends().items()
                   if key == "u.trend.1")

    def restart(self):
        """An ordinary shutdown flushes the trends; then on again."""
        for site in self.sites:
            self.tap.ok(site.server.stop(), self.name(
                site, "the server shuts down by itself"))
        for site in self.sites:
            site.server.start()

    def _compare_trends(self, what):
        """Both sites hold the same trends, and the numbers are right."""
        found = [site.trends() for site in self.sites]
        if len(found) > 1:
            differing = [(key, found[0].get(key), found[1].get(key))
                         for key in sorted(found[0].keys() | found[1].keys())
                         if found[0].get(key) != found[1].get(key)]
            self.tap.ok(not differing, f"{self.version}: trends {what} are"
                        " those of plain tables", *_some("differ", differing))
        model = self.model.trends()
        for site, trends in zip(self.sites, found):
            wrong = [(key, model[key], trends.get(key)) for key in model
                     if not _trend_fits(key, model[key], trends.get(key))]
            self.tap.ok(not wrong, self.name(
                site, f"{len(trends)} trends {what} fit the values"),
                *_some("differ", wrong))
            self.check_places(site, f"trends {what}")

    # --- maintenance --------------------------------------------------------

    def maintenance(self):
        """run_maintenance() while Zabbix works changes no value."""
        with self.streaming("values during maintenance"):
            for site in self.managed:
                site.query("CALL zbxhist.run_maintenance();")
        for site in self.managed:
            self.check(site)

    def undo(self):
        """A table goes back to a plain one and is taken up again, while
        Zabbix writes to it."""
        with self.streaming("values during undo()"):
            for site in self.managed:
                site.query("CALL zbxhist.undo('history_str');")
                left = site.value("SELECT count(*) FROM"
                                  " zbxhist.list_partitions('history_str')")
                self.tap.equal(left, "0", self.name(
                    site, "undo() leaves history_str without partitions"))
        with self.streaming("values during setup() again"):
            for site in self.managed:
                site.query("SELECT * FROM zbxhist.setup();")
                site.query("CALL zbxhist.run_maintenance();")
                self.check_managed(site)

    def check(self, site):
        """zbxhist.check() has nothing bad to say."""
        found = site.query("SELECT severity, code, object, message FROM"
                           " zbxhist.check() WHERE severity IN"
                           " ('error', 'critical')")
        self.tap.equal(found, [], self.name(site, "zbxhist.check() is content"))

    def retention(self):
        """A day of retention passes: the storage period is set in Zabbix,
        and the day that left it is dropped with its partition."""
        old = self.midnight - 5 * DAY
        day = time.strftime("%Y-%m-%d", time.gmtime(old))
        numeric = [key for key in self.keys if key[0] in "fu"
                   and int(key.split(".")[1]) <= 3]
        for site in self.managed:
            for table in site.tables("history"):
                site.query(f"SELECT zbxhist.create_partition('{table}',"
                           f" '{day}')")
        self.send(self.maker.at((old, old + HOUR, old + DAY - 1), numeric),
                  "late values for a day five days ago")
        for site in self.managed:
            self._expire(site, old)
        self.send(self.maker.at((int(time.time()),)),
                  "values after the day was dropped")

    def _expire(self, site, old):
        """Shortens the storage period; maintenance drops the old day, and
        rows as old in the parent may go, too."""
        partition = time.strftime("history_uint_p%Y%m%d", time.gmtime(old))
        rows = int(site.value(f"SELECT count(*) FROM {partition}"))
        self.tap.ok(rows > 0, self.name(site, f"{partition}: {rows} rows"))
        before = site.value("SELECT hk_history FROM config")
        site.frontend.api("housekeeping.update", hk_history="3d")
        site.query("CALL zbxhist.run_maintenance();")
        left = site.query("SELECT t, p.partition FROM unnest("
                          f"'{{{','.join(site.tables('history'))}}}'::text[])"
                          " t, zbxhist.list_partitions(t::regclass) p"
                          f" WHERE p.to_clock <= {old + DAY}")
        self.tap.equal(left, [], self.name(
            site, "what is past the storage period is dropped"))
        site.lost |= {key for key in self.model.stored if key[1] < old + DAY}
        site.frontend.api("housekeeping.update", hk_history=before)
        self.compare(site, "after the day was dropped")

    def housekeeper(self):
        """Zabbix' housekeeper runs and does no harm."""
        for site in self.sites:
            mark = len(site.server.read_log())
            site.server.control("housekeeper_execute")
            site.server.wait_log(r"housekeeper \[deleted", mark)
            line = re.search(r"housekeeper \[deleted.*",
                             site.server.read_log()[mark:]).group(0)
            self.compare(site, f"after the {line[:60]}")

    # --- the end ------------------------------------------------------------

    def check_logs(self):
        """No query of Zabbix failed, except for the duplicates."""
        for site in self.sites:
            bad = [line for line in site.server.read_log().splitlines()
                   if QUERY_TROUBLE.search(line)
                   and not DUPLICATE.search(line)]
            self.tap.ok(not bad, self.name(
                site, "zabbix_server's log has no failed query"), *bad[:10])
            bad = site.cluster.complaints(site.database, POSTGRES_ALLOWED)
            self.tap.ok(not bad, self.name(
                site, "PostgreSQL's log has no error"), *bad[:10])
            bad = [line for line in proc.tail(site.frontend.log, 100000)
                   .splitlines() if re.search(
                       r"PHP (Warning|Fatal|Notice)|pg_|\[5\d\d\]", line)]
            self.tap.ok(not bad, self.name(
                site, "PHP's log has no error"), *bad[:10])

    def drop_extension(self):
        """DROP EXTENSION under a running Zabbix: everything stays readable
        and values go on arriving; then it is set up again.  DROP locks the
        tables in no particular order; locked in Zabbix' order before, it
        cannot deadlock with a history syncer."""
        with self.streaming("values during DROP EXTENSION"):
            for site in self.managed:
                site.has_extension = False
                site.query(f"BEGIN; LOCK TABLE {', '.join(self._in_order(site))};"
                           " DROP EXTENSION zbxhist CASCADE; COMMIT;")
        self.send(self.maker.at((int(time.time()), self.midnight + DAY)),
                  "values after DROP EXTENSION")
        with self.streaming("values during CREATE EXTENSION again"):
            for site in self.managed:
                site.query("CREATE EXTENSION zbxhist;")
                site.query("SELECT * FROM zbxhist.setup();")
                site.query("CALL zbxhist.run_maintenance();")
                site.has_extension = True

    def _in_order(self, site):
        """The tables in the order in which Zabbix writes to them."""
        there = site.tables("history") + site.tables("trends")
        return [table for table in (*TABLES.values(), "trends", "trends_uint")
                if table in there]

    def stop(self):
        """Stops this version's servers and frontends."""
        for site in self.sites:
            self.tap.ok(site.stop(), self.name(site, "Zabbix stops"))


def _some(what, rows, count=8):
    """The first few of many differences."""
    if not rows:
        return []
    return [f"{what}: {len(rows)}"] + [f"  {str(row)[:300]}"
                                       for row in rows[:count]]


def _trend_fits(key, model, trend):
    """Whether a stored trend has the number, minimum and maximum of the
    values (doubles as Zabbix prints them: 17 digits)."""
    if trend is None or trend[0] != model[0]:
        return False
    number = float if key[0].startswith("f") else int
    return [number(trend[1]), number(trend[3])] == model[1:]
