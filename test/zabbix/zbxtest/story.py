"""What all parts of the scenario build on: the sites, the values sent, and
the comparison of what is stored with them."""

import contextlib
import threading
import time

from . import proc
from .site import HOST
from .tap import some
from .values import DAY, TABLES, TYPES, Maker, Model


class Story:
    """Takes the sites (the plain one and the managed one) through the same story, and compares
    them with each other and with what was sent."""

    def __init__(self, tap, version, sites, quick):
        self.tap = tap
        self.version = version
        self.sites = sites
        self.managed = [site for site in sites if site.managed]
        self.model = Model(binary=version != "6.0")
        self.now = int(time.time())
        self.midnight = self.now - self.now % DAY
        self.keys = self._keys(4 if quick else 100)
        self.trend_keys = [
            f"{prefix}.trend.{i}" for prefix in "fu" for i in range(1, 5 if quick else 31)
        ]
        self.maker = Maker(self.keys, f"{version} {quick}")

    def _keys(self, count):
        """The items: many numeric ones, so that batches are long.  They have no trends, because
        their values come in any order; see trends()."""
        keys = [f"{prefix}.{i}" for prefix in "fu" for i in range(1, count + 1)]
        keys += [f"{prefix}.{i}" for prefix in "slt" for i in range(1, 11)]
        return keys + ["t.bin.1"]

    def name(self, site, text):
        """A test point's name."""
        return f"{self.version} {site.database}: {text}"

    def send(self, values, what):
        """Sends values to all sites and waits until all are stored."""
        self.model.add(values)
        for site in self.sites:
            counts = site.server.send(HOST, values)
            if counts != (len(values), 0):
                self.tap.ok(
                    False,
                    self.name(site, f"{what}: all are taken"),
                    f"processed, failed: {counts} of {len(values)}",
                )
        for site in self.sites:
            self.settle(site, what)

    @contextlib.contextmanager
    def streaming(self, what, places=True):
        """Sends values while the body runs; at the end all of them must be stored in the right
        places."""
        ended, sent = threading.Event(), []
        maker = Maker(self.keys, what)

        def stream():
            """Sends values for some items ten times a second; all are compared later."""
            while not sent or not ended.wait(0.1):
                keys = maker.random.sample(self.keys, len(self.keys) // 2)
                values = maker.at((int(time.time()),), keys)
                sent.extend(values)
                for site in self.sites:
                    site.server.send(HOST, values)

        thread = threading.Thread(target=stream)
        thread.start()
        try:
            yield
            time.sleep(1)  # and for a moment after it
        finally:
            ended.set()
            thread.join()
        self.model.add(sent)
        for site in self.sites:
            self.settle(site, what, places)

    def settle(self, site, what, places=True):
        """Waits for the values, then compares every row."""
        expected = len(self.model_rows(site))
        try:
            proc.wait_for(
                f"{expected} values in {site.database}", lambda: site.count() >= expected, 45
            )
        except proc.Failure as failure:
            self.tap.note(failure)
        self.compare(site, what)
        if places:
            self.check_places(site, what)

    def model_rows(self, site):
        """The model, without the types this database does not have and the
        values which left it with their day."""
        types = site.tables("history")
        return [
            key
            for key in self.model.stored
            if key not in site.lost and TABLES[TYPES[key[0].split(".")[0]]] in types
        ]

    def compare(self, site, what):
        """What is stored is what was sent: no row lost, none twice, each
        where it belongs."""
        wanted = set(self.model_rows(site))
        missing, extra, differing = [], [], []
        for kind, table in TABLES.items():
            if table not in site.tables("history"):
                continue
            model = {key: value for key, value in self.model.of_type(kind).items() if key in wanted}
            stored = site.history(kind)
            missing += sorted(model.keys() - stored.keys())
            extra += sorted(stored.keys() - model.keys() - site.lost)
            differing += [
                (key, model[key], stored[key])
                for key in model.keys() & stored.keys()
                if model[key] != stored[key]
            ]
        self.tap.ok(
            not missing and not extra and not differing,
            self.name(site, f"{what}: {len(wanted)} values stored," " each once and unchanged"),
            *some("missing", missing),
            *some("not sent", extra),
            *some("differing", differing),
        )
        return not (missing or extra or differing)

    def check_places(self, site, what):
        """Each row is in the partition of its time, else in the parent."""
        if site.has_extension:
            self.tap.equal(
                site.misplaced(), {}, self.name(site, f"{what}: each row is in its partition")
            )

    def check(self, site):
        """zbxhist.check() must report no error and no warning."""
        found = site.query(
            "SELECT severity, code, object, message FROM"
            " zbxhist.check() WHERE severity IN"
            " ('error', 'critical')"
        )
        self.tap.equal(found, [], self.name(site, "zbxhist.check() is content"))

    def restart(self):
        """Stops the server normally, which flushes the trends, and starts it again."""
        for site in self.sites:
            self.tap.ok(site.server.stop(), self.name(site, "the server shuts down by itself"))
        for site in self.sites:
            site.server.start()
