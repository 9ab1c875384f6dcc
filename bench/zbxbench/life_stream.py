"""A recording prepared for replay: its statements on history and trends, for n times the
items."""

import bisect
import collections
import itertools
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2] / "scripts"))

from zbxrecord import pieces, shapes  # noqa: E402

TABLES = (
    "history",
    "history_uint",
    "history_str",
    "history_log",
    "history_text",
    "trends",
    "trends_uint",
)
# distance between two copies of an item
STEP = 10**7
# rows read per item
SENT = 20
# minutes that a line can come after a younger one, because it is written at its end
LATE = 5
# Zabbix splits statements at this size
MOST_ROWS, MOST_BYTES = 1000, 262144

_ASKED = re.compile(r"\b(?:from|join|into|update)\s+(\w+)", re.I)
_CATALOG = re.compile(r"\binformation_schema\b|\bpg_\w+", re.I)
_ROW = re.compile(r"\((\d+)((?:[^()']|'(?:[^']|'')*')*)\)")
_ITEMS = re.compile(r"\bitemid\s*(?:=\s*'?\d+'?|in\s*\([\d', ]+\))", re.I)
_DIGITS = re.compile(r"\d+")
# what a Zabbix server asks at its start
_START = re.compile(r"select mandatory,optional from dbversion\b", re.I)
_BEGIN, _END = ("begin", "start transaction"), ("commit", "rollback")

# a statement: seconds since the beginning, session, shape, text
Statement = collections.namedtuple("Statement", "time session shape text error")


def is_of_history(text):
    """Does a statement use history and trends only?"""
    names = [name.lower() for name in _ASKED.findall(text)]
    return bool(names) and all(name in TABLES for name in names) and not _CATALOG.search(text)


def _sent(lines):
    """The statements of a recording in the order in which they began; transactions only if they
    contain one."""
    opened, inside = {}, set()
    for line in sorted(lines, key=lambda line: line[0]):
        moment, session, text = line[0] / 1e6, line[1], line[8]
        word = text.strip(" ;\n").lower()
        if word in _BEGIN:
            opened[session] = moment
        elif word in _END:
            opened.pop(session, None)
            if session in inside:
                inside.discard(session)
                yield Statement(moment, session, word, word, None)
        elif is_of_history(text):
            if session in opened:
                yield Statement(opened.pop(session), session, "begin", "begin", None)
                inside.add(session)
            yield Statement(moment, session, shapes.shape_of(text), text, line[7])


def _copied(text, copy):
    """A statement for another copy of its items."""

    def items(match):
        return _DIGITS.sub(lambda digits: str(int(digits.group()) + copy * STEP), match.group())

    return _ITEMS.sub(items, text)


def _inserts(text, copies):
    """An INSERT with n times the rows, split as Zabbix does."""
    head, rows = re.split(r"\bvalues\b", text, maxsplit=1, flags=re.I)
    tail = re.search(r"\)\s*(on conflict[^;]*);?\s*$", rows, re.I)
    head += "values "
    part, size = [], 0
    for itemid, rest in _ROW.findall(rows if tail is None else rows[: tail.start() + 1]):
        for copy in range(copies):
            row = "(%d%s)" % (int(itemid) + copy * STEP, rest)
            if len(part) == MOST_ROWS or size + len(row) > MOST_BYTES:
                yield head + ",".join(part)
                part, size = [], 0
            part.append(row)
            size += len(row) + 1
    if part:
        yield head + ",".join(part) + (" " + tail.group(1) if tail else "")


def multiplied(statement, copies):
    """The statements into which n times the items turn one."""
    if copies == 1 or statement.shape in _BEGIN + _END:
        return [statement]
    if shapes.kind_of(statement.shape) == "insert":
        return [statement._replace(text=text) for text in _inserts(statement.text, copies)]
    if not _ITEMS.search(statement.text):
        return [statement]
    return [statement._replace(text=_copied(statement.text, copy)) for copy in range(copies)]


def _until(lines, minutes):
    """Lines of this many minutes from the first statement on history on; all without a
    limit."""
    first = None
    for line in lines:
        if len(line) <= 3:
            continue
        if first is None and is_of_history(line[8]):
            first = line[0]
        if minutes and first is not None and line[0] > first + (minutes + LATE) * 60e6:
            return
        yield line


class Stream:
    """A recording, read.

    began: seconds since 1970; seconds: its length; items: by table, (item id, values); sent: by
    table, the first rows of an item as written, without its id; first_clock: by table, the
    oldest clock; starts: when Zabbix servers were started, in seconds since the beginning
    """

    def __init__(self, directory, minutes=None, skipped=0):
        header, lines = pieces.read(directory)
        lines = list(_until(lines, minutes and minutes + skipped))
        statements = list(_sent(lines))
        if not statements:
            raise RuntimeError("%s has no statement on history" % directory)
        # it begins with the first statement
        first = int(statements[0].time + skipped * 60)
        limit = first + minutes * 60 if minutes else float("inf")
        self.began = header["began"] + first
        self.statements = [
            one._replace(time=one.time - first) for one in statements if first <= one.time < limit
        ]
        self.seconds = self.statements[-1].time
        self.starts = sorted(
            line[0] / 1e6 - first for line in lines if len(line) > 8 and _START.match(line[8])
        )
        self._read_rows()
        self._moments, self._values = self._arrivals()
        self._gaps = self._find_gaps()

    def _read_rows(self):
        """Counts what INSERTs bring."""
        self.items = {table: collections.Counter() for table in TABLES}
        self.sent = {table: collections.defaultdict(list) for table in TABLES}
        self.first_clock = {}
        for statement in self.statements:
            insert = re.match(r"insert into (\w+)", statement.text, re.I)
            if not insert:
                continue
            table = insert.group(1).lower()
            for itemid, rest in _ROW.findall(statement.text):
                item, clock = int(itemid), int(rest.split(",", 2)[1])
                self.items[table][item] += 1
                self.first_clock[table] = min(clock, self.first_clock.get(table, clock))
                if len(self.sent[table][item]) < SENT:
                    self.sent[table][item].append(rest)

    def _arrivals(self):
        """When statements bring values, and how many have come by then."""
        found = [
            (one.time, len(_ROW.findall(one.text)))
            for one in self.statements
            if shapes.kind_of(one.shape) == "insert"
        ]
        counts = itertools.accumulate((count for _, count in found), initial=0)
        return [moment for moment, _ in found], list(counts)

    def _find_gaps(self):
        """(end, seconds) of each time without recording, between its pieces."""
        times = [one.time for one in self.statements]
        return [
            (later, later - earlier)
            for earlier, later in zip(times, times[1:])
            if later - earlier > pieces.GAP
        ]

    def idle(self, moment):
        """Seconds before a moment in which nothing was recorded."""
        return sum(seconds for end, seconds in self._gaps if end <= moment + 1)

    def values_until(self, moment):
        """How many values have come by then."""
        return self._values[bisect.bisect_right(self._moments, moment)]

    def is_start(self, moment, seconds):
        """Was a Zabbix server started in the seconds before?"""
        return any(start <= moment < start + seconds for start in self.starts)

    def windows(self, seconds):
        """(time, {session: statements}) of each window; its sessions run at the same time."""
        window, sessions = 0, {}
        for statement in self.statements:
            number = int(statement.time // seconds)
            if number != window:
                if sessions:
                    yield window * seconds, sessions
                window, sessions = number, {}
            sessions.setdefault(statement.session, []).append(statement)
        if sessions:
            yield window * seconds, sessions
