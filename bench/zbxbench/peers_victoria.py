"""VictoriaMetrics in the peers experiment."""

import http.client
import json
import shutil
import socket
import subprocess
import time
import urllib.parse

from . import periods
from .peer import Peer
from .peers_base import (
    ABOVE,
    HOUR,
    HOURS,
    ITEMS,
    NEWEST,
    TOTAL,
    WEEK,
    Contender,
    Terms,
    files_bytes,
)


class VictoriaMetrics(Peer, Contender):
    """One node of VictoriaMetrics on loopback; a series an item."""

    NAME = "victoriametrics"
    LABEL = "VictoriaMetrics"
    TERMS = Terms(
        "kept, or one left an interval", "whole series deleted", "not the last seconds", "ms"
    )
    PROGRAM = "victoria-metrics"
    unit = 10**6

    def __init__(self, base):
        super().__init__(base)
        self.port = None
        self.connection = None
        self.table = None

    @classmethod
    def missing(cls):
        """Why it cannot be measured; None when it can."""
        if shutil.which(cls.PROGRAM) is None:
            return "the package %s is not installed" % cls.PROGRAM
        return None

    @property
    def settings(self):
        """Nobody else has a cache of answers either."""
        return {
            "retentionPeriod": "100y",
            "search.disableCache": "true",
            "search.latencyOffset": "0s",
            "loggerLevel": "ERROR",
            "http.connTimeout": "1h",
            "http.idleConnTimeout": "1h",
        }

    def prepare(self):
        with socket.socket() as chosen:
            chosen.bind(("127.0.0.1", 0))
            self.port = chosen.getsockname()[1]

    def sent(self, data):
        """A text a day, a line a series: what its documentation has for bulk loads."""
        texts = []
        for day in data.days:
            series = {}
            for itemid, clock, value, ns in day.rows():
                values, times = series.setdefault(itemid, ([], []))
                values.append(value)
                times.append("%s%03d" % (clock, int(ns) // self.unit))
            texts.append(
                "\n".join(
                    '{"metric":{"__name__":"%s","itemid":"%s"},"values":[%s],"timestamps":[%s]}'
                    % (data.dataset.table, itemid, ",".join(values), ",".join(times))
                    for itemid, (values, times) in series.items()
                ).encode()
            )
        return texts

    def command(self):
        return [
            shutil.which(self.PROGRAM),
            "-storageDataPath=%s" % (self.directory / "data"),
            "-httpListenAddr=127.0.0.1:%d" % self.port,
        ] + ["-%s=%s" % setting for setting in self.settings.items()]

    def is_ready(self):
        try:
            self.request("/health")
        except (OSError, http.client.HTTPException):
            self.connection = None
            return False
        return True

    def request(self, path, body=None, **parameters):
        """One answer; the connection is kept."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port)
        if parameters:
            path += "?" + urllib.parse.urlencode(parameters)
        self.connection.request("POST" if body else "GET", path, body)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError("%s: %s" % (self.NAME, text.decode(errors="replace")[:500]))
        return text

    def version(self):
        """The package's."""
        return (
            subprocess.run(
                ["dpkg-query", "-W", "-f", "${Version}", self.PROGRAM],
                capture_output=True,
                text=True,
                check=False,
            ).stdout
            or "unknown"
        )

    def create(self, data):
        self.table = data.dataset.table

    def load(self, data, sent):
        for text in sent:
            self.request("/api/v1/import", text)
        self.request("/internal/force_flush")
        self.request("/internal/force_merge")
        # merges go on by themselves: until there is a second without one
        quiet, seen = 0, self.cpu()
        while quiet < 5:
            time.sleep(0.2)
            now = self.cpu()
            quiet = quiet + 1 if now - seen < 0.01 else 0
            seen = now

    def disk_bytes(self):
        data = self.directory / "data"
        return files_bytes(data / "data", data / "indexdb", data / "metadata")

    def query(self, question):
        """Path and parameters."""
        series = '%s{itemid=~"%s"}' % (self.table, "|".join(map(str, question.items)))
        if question.kind == HOUR:
            return "/api/v1/export", {
                "match[]": '%s{itemid="%d"}' % (self.table, question.items[0]),
                "start": question.start,
                "end": "%.3f" % (question.stop - 0.001),
            }
        if question.kind in (WEEK, ITEMS, HOURS):
            totals = " or ".join(
                'label_set(sum(%s_over_time(%s[1h])), "rollup", "%s")' % (each, self.table, each)
                for each in ("sum", "count")
            )
            return "/api/v1/query_range", {
                "query": totals if question.kind == HOURS else "rollup(%s[1h])" % series,
                "start": "%.3f" % (question.start + periods.HOUR - 0.001),
                "end": "%.3f" % (question.stop - 0.001),
                "step": "1h",
                "nocache": 1,
            }
        window = "%s[%ds]" % (self.table, question.stop - question.start)
        if question.kind == NEWEST:
            text = "last_over_time(%s)" % window
        else:
            text = "sum(sum_over_time(%s))" % window
        return "/api/v1/query", {
            "query": text,
            "time": "%.3f" % (question.stop - 0.001),
            "nocache": 1,
        }

    def ask(self, question):
        # sum_gt_over_time is newer than Debian's package
        if question.kind == ABOVE:
            return None
        path, parameters = self.query(question)
        cpu, started = self.cpu(), time.perf_counter()
        answer = self.request(path, **parameters)
        seconds = time.perf_counter() - started
        return seconds, self.cpu() - cpu, self.rows(question, answer)

    @staticmethod
    def rows(question, answer):
        """Rows of an answer."""
        if question.kind == HOUR:
            return [
                [moment * 10**6, value]
                for line in answer.splitlines()
                for found in [json.loads(line)]
                for moment, value in zip(found["timestamps"], found["values"])
            ]
        found = json.loads(answer)["data"]["result"]
        if question.kind == TOTAL:
            return [[series["value"][1]] for series in found]
        if question.kind == NEWEST:
            return [[series["metric"]["itemid"], series["value"][1]] for series in found]
        names = ("sum", "count") if question.kind == HOURS else ("avg", "min", "max")
        hours = {}
        for series in found:
            key = () if question.kind == HOURS else (series["metric"]["itemid"],)
            for moment, value in series["values"]:
                clock = int(moment) + 1 - periods.HOUR
                row = hours.setdefault((*key, clock), [*key, clock] + [None] * len(names))
                row[len(key) + 1 + names.index(series["metric"]["rollup"])] = value
        return list(hours.values())

    def stop(self):
        self.connection = None
        super().stop()

    def clear(self):
        self.stop()
        self.start()
