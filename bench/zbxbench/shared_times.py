"""The shared-times experiment: how the items of a real Zabbix share clock and ns.

It looks at a running Zabbix's database, whatever has made that, and changes
nothing in it: at the values of some time, and at the items of the templates
that the database has.
"""

import collections
import datetime
import math
import re
import statistics
import time

import psycopg2

from . import environment, results

NAME = "shared-times"
HELP = "how the items of a real Zabbix share their times: reads a database, changes nothing"

# values that the server may not have written yet
DELAY = 90
TYPES = {
    0: "agent",
    2: "trapper",
    3: "simple check",
    5: "internal",
    7: "active agent",
    10: "external check",
    11: "database",
    12: "IPMI",
    13: "SSH",
    14: "Telnet",
    15: "calculated",
    16: "JMX",
    17: "SNMP trap",
    18: "dependent",
    19: "HTTP agent",
    20: "SNMP",
    21: "script",
    22: "browser",
}
DEPENDENT = 18

# numeric values of a time
VALUES = """v AS (SELECT itemid, clock, ns FROM history WHERE clock >= %(first)s AND clock < %(end)s
    UNION ALL SELECT itemid, clock, ns FROM history_uint
    WHERE clock >= %(first)s AND clock < %(end)s)"""

# each item with a hash of its times, and how many of them others have
ITEMS = (
    "WITH "
    + VALUES
    + """, t AS (SELECT clock, ns, count(DISTINCT itemid) AS items FROM v GROUP BY clock, ns)
SELECT v.itemid, i.type, count(*), min(v.clock), max(v.clock),
    md5(string_agg(v.clock || '.' || v.ns, ' ' ORDER BY v.clock, v.ns)),
    count(*) FILTER (WHERE t.items > 1)
FROM v JOIN t USING (clock, ns) JOIN items i ON i.itemid = v.itemid
GROUP BY v.itemid, i.type"""
)

# each time that any item has, and how many have it
TIMES = "WITH " + VALUES + " SELECT ns, count(*) FROM v GROUP BY clock, ns"

# how far apart the ns of an item are: bits of what half of them, and all, are in
SPREADS = (
    "WITH "
    + VALUES
    + """, s AS (SELECT itemid, percentile_cont(0.75) WITHIN GROUP (ORDER BY ns)
        - percentile_cont(0.25) WITHIN GROUP (ORDER BY ns) AS middle, max(ns) - min(ns) AS whole
    FROM v GROUP BY itemid HAVING count(*) > 4)
SELECT i.type, count(*)::int, avg(log(2, greatest(middle, 1)::numeric))::float8,
    avg(log(2, greatest(whole, 1)::numeric))::float8
FROM s JOIN items i USING (itemid) GROUP BY i.type"""
)

# the numeric items, and prototypes of items, of templates; what is at the end of their masters
TEMPLATES = """WITH RECURSIVE roots AS (
    SELECT itemid, itemid AS root FROM items WHERE master_itemid IS NULL
    UNION ALL SELECT i.itemid, r.root FROM items i JOIN roots r ON i.master_itemid = r.itemid)
SELECT i.type, i.flags, i.hostid, r.root, m.delay
FROM items i JOIN roots r USING (itemid) JOIN items m ON m.itemid = r.root
JOIN hosts h ON h.hostid = i.hostid
WHERE h.status = 3 AND i.flags IN (0, 2) AND i.value_type IN (0, 3)
    AND i.history NOT IN ('0', '0s') AND i.status = 0 AND i.templateid IS NULL"""

MACROS = "SELECT hostid, macro, value FROM hostmacro"
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument(
        "--connect", required=True, metavar="DSN", help="libpq's words for the database of a Zabbix"
    )
    parser.add_argument(
        "--seconds", type=int, default=1200, help="of values, up to now (default: %(default)s)"
    )
    parser.add_argument("--end", type=int, help="instead of now: a clock, before which values are")


def size_class(size):
    """Groups of many sizes as a few."""
    first = 1
    for last in (1, 2, 4, 9, 19, 49):
        if size <= last:
            return str(last) if first == last else "%d-%d" % (first, last)
        first = last + 1
    return "50 and more"


def interval(delay, macros):
    """The seconds of an item's interval; none if it says nothing of them."""
    for macro, value in macros.items():
        delay = delay.replace(macro, value)
    found = re.match(r"(\d+)([smhdw]?)$", delay.split(";")[0])
    seconds = int(found.group(1)) * UNITS[found.group(2)] if found else 0
    return seconds or None


def interval_name(seconds):
    """For a table."""
    return "%d s" % seconds if seconds else "none"


def most(counter, count=8):
    """The most frequent, as a part of all."""
    total = sum(counter.values())
    return {str(key): number / total for key, number in counter.most_common(count)}


def masters_of(rows):
    """How many dependent items each root has, by (is a prototype of many, root)."""
    found = collections.Counter()
    for kind, flags, _, root, _ in rows:
        if kind == DEPENDENT:
            found[(flags, root)] += 1
    return found


def look_at_templates(execute):
    """What the templates' numeric items are."""
    macros = collections.defaultdict(dict)
    for hostid, macro, value in execute(MACROS):
        macros[hostid][macro] = value
    rows = execute(TEMPLATES)
    kinds = collections.Counter(TYPES.get(row[0], str(row[0])) for row in rows)
    intervals = {True: collections.Counter(), False: collections.Counter()}
    for kind, _, hostid, _, delay in rows:
        name = interval_name(interval(delay, macros[hostid]))
        intervals[kind == DEPENDENT][name] += 1
    sizes = masters_of(rows)
    plain = sorted(size for (flags, _), size in sizes.items() if flags == 0)
    in_groups = collections.Counter()
    for size in plain:
        in_groups[size_class(size)] += size
    return {
        "items": len(rows),
        "prototypes": sum(row[1] == 2 for row in rows),
        "dependent": kinds["dependent"] / max(len(rows), 1),
        "types": most(kinds, 20),
        "intervals_dependent": most(intervals[True]),
        "intervals_others": most(intervals[False]),
        "masters": len(plain),
        "dependents_a_master_median": statistics.median(plain) if plain else None,
        "dependents_a_master_mean": statistics.mean(plain) if plain else None,
        # what a dependent item sees: the size of its own group
        "dependents_by_size_of_group": most(in_groups, 20),
    }


def step_of(item):
    """Seconds between two values of an item, about."""
    _, _, count, first, last, _, _ = item
    return (last - first) / (count - 1)


def by_type(items, alike):
    """What the items of each type share."""
    found = {}
    for item in items:
        kind = found.setdefault(
            TYPES.get(item[1], str(item[1])),
            {"items": 0, "values": 0, "items_identical": 0, "values_shared": 0},
        )
        kind["items"] += 1
        kind["values"] += item[2]
        kind["items_identical"] += alike[item[5]] > 1
        kind["values_shared"] += item[6]
    return found


def describe_ns(times):
    """How nanoseconds are distributed, of the times that there are, each counted once."""
    values = [ns for ns, _ in times]
    counts = collections.Counter(ns // 62500000 for ns in values)
    bits = sum(n / len(values) * math.log2(len(values) / n) for n in counts.values())
    return {
        "zero": sum(ns == 0 for ns in values) / len(values),
        "whole_milliseconds": sum(ns % 1000000 == 0 for ns in values) / len(values),
        "whole_microseconds": sum(ns % 1000 == 0 for ns in values) / len(values),
        # of 4 that a sixteenth of a second, at random, has
        "bits_of_sixteenths": bits,
        "deciles": statistics.quantiles(values, n=10) if len(values) > 1 else [],
    }


def look_at_values(execute, first, end):
    """How items have shared their times."""
    bounds = {"first": first, "end": end}
    items = [item for item in execute(ITEMS, bounds) if item[2] > 1]
    times = execute(TIMES, bounds)
    if not items:
        raise RuntimeError("no item has two values in that time")
    alike = collections.Counter(item[5] for item in items)
    groups = {item[5]: item for item in items}
    values = sum(item[2] for item in items)
    in_groups = collections.Counter()
    for item in items:
        in_groups[size_class(alike[item[5]])] += item[2]
    steps = collections.Counter(
        "%d s" % (round(step_of(item) / 30) * 30) if step_of(item) >= 45 else "less than 45 s"
        for item in items
    )
    return {
        "seconds": end - first,
        "items": len(items),
        "values": values,
        "items_identical": sum(alike[item[5]] > 1 for item in items) / len(items),
        "values_identical": sum(item[2] for item in items if alike[item[5]] > 1) / values,
        # some other item has that time, too
        "values_shared": sum(item[6] for item in items) / values,
        # what is stored if each sequence is, and if each time is
        "times_of_sequences": sum(item[2] for item in groups.values()) / values,
        "times": len(times) / sum(count for _, count in times),
        "groups": sorted((size for size in alike.values() if size > 1), reverse=True),
        "values_by_size_of_group": most(in_groups, 20),
        "items_by_interval": most(steps, 20),
        "types": by_type(items, alike),
        "ns": describe_ns(times),
        "ns_of_an_item": {
            TYPES.get(kind, str(kind)): {"items": count, "bits_half": half, "bits_all": whole}
            for kind, count, half, whole in execute(SPREADS, bounds)
        },
    }


def show_parts(title, parts):
    """A table of parts of a whole."""
    print("\n" + title)
    rows = [[name, "%.1f %%" % (100 * part)] for name, part in parts.items()]
    print(results.table(["", "part"], rows))


def show_types(types, spreads):
    """What items of each type share."""
    print("\nNumeric items by type; bits of the range in which half, and all, of an item's ns are")
    print(
        results.table(
            ["type", "items", "with another's times", "values", "whose time others have"]
            + ["half of ns", "all"],
            [
                [name]
                + [
                    results.number(found[key])
                    for key in ("items", "items_identical", "values", "values_shared")
                ]
                + [
                    results.number(spreads.get(name, {}).get(key), 1)
                    for key in ("bits_half", "bits_all")
                ]
                for name, found in sorted(types.items())
            ],
        )
    )


def show(result):
    """The tables of a result."""
    measured, templates = result["measured"], result["templates"]
    show_types(measured["types"], measured["ns_of_an_item"])
    print(
        "\n%d values of %d items in %d s.  Of the values, %.1f %% are of items that have exactly "
        "the times of others,\n%.1f %% have a time that others have.  Sequences stored once have "
        "%.1f %% of the times, each time stored once %.1f %%."
        % (
            measured["values"],
            measured["items"],
            measured["seconds"],
            100 * measured["values_identical"],
            100 * measured["values_shared"],
            100 * measured["times_of_sequences"],
            100 * measured["times"],
        )
    )
    show_parts(
        "Values by how many items have their item's times", measured["values_by_size_of_group"]
    )
    show_parts("Templates: numeric items and prototypes by type", templates["types"])
    show_parts("Templates: intervals of dependent items", templates["intervals_dependent"])
    show_parts("Templates: intervals of others", templates["intervals_others"])
    show_parts(
        "Templates: dependent items by how many their master has",
        templates["dependents_by_size_of_group"],
    )


def run(arguments):
    """The experiment."""
    connection = psycopg2.connect(arguments.connect)
    connection.set_session(readonly=True, autocommit=True)

    def execute(text, values=None):
        with connection.cursor() as cursor:
            cursor.execute(text, values)
            return cursor.fetchall()

    end = arguments.end or int(time.time()) - DELAY
    result = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "command": arguments.command_line,
        "git_revision": environment.git_revision(),
        "machine": environment.machine(),
        "versions": {
            "postgresql": execute("SHOW server_version")[0][0],
            "zabbix": str(execute("SELECT mandatory FROM dbversion")[0][0]),
        },
        "experiment": NAME,
        "quick": arguments.quick,
        "problems": [],
        "measured": look_at_values(execute, end - arguments.seconds, end),
        "templates": look_at_templates(execute),
    }
    connection.close()
    show(result)
    return results.conclude(results.base_name(arguments, NAME), result, [], arguments.output)
