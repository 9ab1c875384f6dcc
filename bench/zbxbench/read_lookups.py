"""What Zabbix looks up: keys that may be there already, and the first or last value of each tick.

After a duplicate key the server asks which rows of its batch are stored, all of
them in one OR; half of the keys asked for are.  Others ask for the same by VALUES.
A graph of first or last values
joins the table with itself twice, in 6.0 with fewer conditions than in 7.0.
Keys and graphs are of today and of past days; answers are compared.
"""

import random

from . import periods, read_parts
from .read_data import TABLE

PART = "lookups"
REFERENCE = "plain"

KEYS = (100, 1000)
FORMS = ("OR", "VALUES")
# of which the keys are, and the graphs
DAYS = 2
GRAPH_DAYS, GRAPH_ITEMS, TICK = 7, 10, 3600
GRAPHS = {"6.0": "MIN", "7.0": "MAX"}
# the project's limit, as a part of the plain table's time
LIMIT = 1.5


def key_question(count, form):
    """The name of a look-up."""
    return "look-up of {:,} keys by {}".format(count, form)


def graph_question(version):
    """The name of a graph."""
    which = "first" if GRAPHS[version] == "MIN" else "last"
    return "graph of %s values, Zabbix %s" % (which, version)


def stored_keys(connection, installation, chooser, count):
    """Keys that are there, of any items and times."""
    first = installation.now - DAYS * periods.DAY
    places = ",".join(
        "(%d,%d)" % (installation.item(chooser), chooser.randrange(first, installation.now))
        for _ in range(count * 2)
    )
    rows = connection.execute(
        "SELECT h.* FROM (VALUES %s) v (item,near),LATERAL (SELECT itemid,clock,ns FROM %s "
        "WHERE itemid=item AND clock<=near ORDER BY clock DESC LIMIT 1) h" % (places, TABLE)
    )
    keys = sorted({tuple(map(int, row)) for row in rows})
    return chooser.sample(keys, min(count, len(keys)))


def look_up(keys, form):
    """The server's statement, or the same by VALUES."""
    condition = (
        " or ".join("(itemid=%d and clock=%d and ns=%d)" % key for key in keys)
        if form == "OR"
        else "(itemid,clock,ns) in (values %s)" % ",".join("(%d,%d,%d)" % key for key in keys)
    )
    return "select itemid,clock,ns from %s where %s order by itemid,clock,ns" % (TABLE, condition)


def graph(version, items, first, last, seconds=TICK):
    """The frontend's statement, with ticks of so many seconds."""
    tick = "CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),%d)" % seconds
    old = version == "6.0"
    between = "clock BETWEEN %d AND %d" % (first, last)
    return (
        "SELECT h.itemid,h.value,h.clock,h.ns,s.tick FROM {table} h JOIN (SELECT h2.itemid,"
        "h2.clock,{call}(h2.ns) AS ns,s2.tick FROM {table} h2 JOIN (SELECT itemid,{tick} AS tick,"
        "{call}(clock) AS clock FROM {table} WHERE itemid IN ({items}) AND {range} "
        "GROUP BY itemid,{tick}) s2 ON h2.itemid=s2.itemid AND h2.clock=s2.clock {of_h2}"
        "GROUP BY h2.itemid,h2.clock,s2.tick) s ON h.itemid=s.itemid AND h.clock=s.clock "
        "AND h.ns=s.ns {of_h}"
    ).format(
        table=TABLE,
        tick=tick,
        call=GRAPHS[version],
        items=",".join(map(str, items)),
        range="clock>='%d' AND clock<='%d'" % (first, last) if old else between,
        of_h2="" if old else "WHERE h2.%s " % between,
        of_h="" if old else "WHERE h.%s" % between,
    )


def statements(installation, connection, round_number):
    """SQL by question, the same for all stores."""
    chooser = random.Random(round_number)
    found = {}
    for count in KEYS:
        keys = stored_keys(connection, installation, chooser, count // 2)
        keys += [(itemid, clock, ns + 1) for itemid, clock, ns in keys]
        chooser.shuffle(keys)
        for form in FORMS:
            found[key_question(count, form)] = look_up(keys, form)
    items = installation.items(chooser, GRAPH_ITEMS)
    first = installation.now - GRAPH_DAYS * periods.DAY
    for version in GRAPHS:
        found[graph_question(version)] = graph(version, items, first, installation.now)
    return found


def measure(asker, arguments, progress):
    """All questions of all stores, in rounds of which the first warms up."""
    installation = asker.installation
    progress.show("%s, %s" % (PART, installation.size.label))
    found = read_parts.compared(
        asker,
        PART,
        arguments.rounds,
        lambda connection, round_number: statements(installation, connection, round_number),
    )
    progress.step()
    return found


def targets(ratio, sizes):
    """(sentence, figure, limit, at_least) for each number of keys and size."""
    return [
        (
            "%s, %s: packed days to a plain table, time" % (key_question(count, form), size.label),
            ratio(
                "median_ms",
                "zbxhist-packed",
                REFERENCE,
                part=PART,
                items=size.items,
                question=key_question(count, form),
            ),
            LIMIT,
            False,
        )
        for size in sizes
        for count in KEYS
        for form in FORMS
    ]
