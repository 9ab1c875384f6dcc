"""The values sent to Zabbix, which its history must have."""

import base64
import random
from collections import defaultdict
from typing import NamedTuple

HOUR = 3600
DAY = 86400

# value type of the API, table, kind of item
FLOAT, STR, LOG, UINT, TEXT, BINARY = range(6)
TABLES = {
    FLOAT: "history",
    STR: "history_str",
    LOG: "history_log",
    UINT: "history_uint",
    TEXT: "history_text",
    BINARY: "history_bin",
}
PREFIXES = {FLOAT: "f", STR: "s", LOG: "l", UINT: "u", TEXT: "t", BINARY: "b"}
TYPES = {prefix: kind for kind, prefix in PREFIXES.items()}

# text that a careless quoting would damage; 50 kB values make Zabbix cut its
# INSERT at 256 kB
AWKWARD = (
    "plain",
    'it\'s "quoted"',
    "back\\slash \\x41",
    "line 1\nline 2",
    "žluťoučký kůň 日本 🐘",
    "100% $1 {MACRO} ;--",
    "  spaces  ",
)
LONG = "0123456789abcdef" * 3125


class Value(NamedTuple):
    """One value as zabbix_sender gets it."""

    key: str
    clock: int
    ns: int
    value: str


class Model:
    """The values which must be stored: the first of each (key, clock, ns)."""

    def __init__(self, binary):
        self.binary = binary  # does this version have binary items?
        self.stored = {}

    def add(self, values):
        """Takes up what was sent; later duplicates lose, as in Zabbix."""
        for value in values:
            self.stored.setdefault(value[:3], value.value)
            if self.binary and value.key.startswith("t.bin"):
                key = (value.key.replace("t.bin", "b"), *value[1:3])
                self.stored.setdefault(key, value.value)

    def forget(self, doomed):
        """Drops the values for which doomed(Value) is true."""
        self.stored = {
            key: value for key, value in self.stored.items() if not doomed(Value(*key, value))
        }

    def of_type(self, kind):
        """{(key, clock, ns): value} of one value type, values in the form
        normal() gives them."""
        return {
            key: normal(kind, value)
            for key, value in self.stored.items()
            if TYPES[key[0].split(".")[0]] == kind
        }

    def of_item(self, key):
        """[(clock, ns, value)] of one item in order of time."""
        kind = TYPES[key.split(".")[0]]
        return sorted(
            (clock, ns, normal(kind, value))
            for (k, clock, ns), value in self.stored.items()
            if k == key
        )

    def trends(self):
        """{(key, hour): [num, min, max]} of the items which have trends."""
        hours = defaultdict(list)
        for (key, clock, _), value in self.stored.items():
            if ".trend." in key:
                hours[key, clock - clock % HOUR].append(normal(TYPES[key[0]], value))
        return {hour: [len(values), min(values), max(values)] for hour, values in hours.items()}

    def __len__(self):
        return len(self.stored)


def normal(kind, text):
    """A stored or sent value in a form that compares."""
    if kind == FLOAT:
        return float(text)
    if kind == UINT:
        return int(text)
    if kind == BINARY and not text.startswith("\\x"):
        return "\\x" + base64.b64decode(text).hex()
    return text


class Maker:
    """Makes values of every type, reproducibly."""

    def __init__(self, keys, seed):
        self.keys = keys
        self.random = random.Random(seed)

    def value(self, key):
        """A random value for an item."""
        kind, dice = TYPES[key.split(".")[0]], self.random
        if kind == FLOAT:
            return repr(
                dice.choice((dice.uniform(-1e6, 1e6), dice.uniform(-1, 1) * 1e-9, 0.1, 1e100))
            )
        if kind == UINT:
            return str(dice.choice((dice.randrange(1000), dice.randrange(1 << 64), (1 << 64) - 1)))
        if key.startswith("t.bin"):
            return base64.b64encode(dice.randbytes(200)).decode()
        if kind == STR:
            return dice.choice(AWKWARD)
        return dice.choice(AWKWARD + ((LONG,) if key.endswith(".1") else ()))

    def at(self, clocks, keys=None):
        """One value for each item and each clock, in shuffled order of
        items: batches then hold values of different days."""
        values = [
            Value(key, clock, self.random.randrange(10**9), self.value(key))
            for key in (keys or self.keys)
            for clock in clocks
        ]
        self.random.shuffle(values)
        return values
