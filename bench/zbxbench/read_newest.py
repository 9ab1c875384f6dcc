"""The newest value of many items in one statement.

As people write it by hand, for reports and dashboards: DISTINCT ON, max(clock)
with GROUP BY, and a LATERAL subquery for each item.  All items are asked for, or
a list of them; answers are compared.
"""

import random
import time

from . import libpq, read_parts
from .read_data import TABLE

PART = "newest"

# what is asked, of how many items at most
ITEMS = 10000
ALL, LISTED, CLOCKS, LATERAL = (
    "DISTINCT ON, all items",
    "DISTINCT ON, listed items",
    "max(clock), all items",
    "LATERAL, listed items",
)
# the project's limit, as a part of native partitions' time
LIMIT = 0.2


def statements(items):
    """SQL by question."""
    columns = "itemid,clock,ns,value"
    listed = "{%s}" % ",".join(map(str, sorted(items)))
    order = "ORDER BY itemid,clock DESC,ns DESC"
    return {
        ALL: "SELECT DISTINCT ON (itemid) %s FROM %s %s" % (columns, TABLE, order),
        LISTED: "SELECT DISTINCT ON (itemid) %s FROM %s WHERE itemid=ANY('%s') %s"
        % (columns, TABLE, listed, order),
        CLOCKS: "SELECT itemid,max(clock) FROM %s GROUP BY itemid" % TABLE,
        LATERAL: "SELECT h.%s FROM unnest('%s'::bigint[]) i,LATERAL (SELECT * FROM %s WHERE itemid=i "
        "ORDER BY clock DESC,ns DESC LIMIT 1) h" % (columns, listed, TABLE),
    }


def measure(asker, arguments, progress):
    """All questions of all stores, in rounds of which the first warms up."""
    installation = asker.installation
    progress.show("%s, %s" % (PART, installation.size.label))
    series = [each for each in installation.series if each.way == "sql" and each.store.is_postgres]
    kept = {each: libpq.Connection(each.store.dsn()) for each in series}
    found = []
    for round_number in range(-1, arguments.rounds):
        chooser = random.Random(round_number)
        items = installation.items(chooser, min(ITEMS, installation.size.items))
        for name, text in statements(items).items():
            for each in random.Random(round_number).sample(series, len(series)):
                started = time.perf_counter()
                rows = kept[each].execute(text)
                seconds = time.perf_counter() - started
                key = (PART, installation.size.items, name, round_number)
                asker.answers.note(each, key, hash(tuple(sorted(map(tuple, rows)))))
                if round_number >= 0:
                    measured = {"latencies": [seconds], "rows": len(rows)}
                    question = read_parts.Question(name, None)
                    found.append(asker.describe(measured, PART, each, question, round=round_number))
    for connection in kept.values():
        connection.close()
    progress.step()
    return found


def targets(ratio, sizes, reference):
    """(sentence, figure, limit, at_least) for each question and size."""
    return [
        (
            "newest of each of up to %d items, %s, %s: packed days to native, time"
            % (ITEMS, question, size.label),
            ratio(
                "median_ms",
                "zbxhist-packed",
                reference,
                part=PART,
                items=size.items,
                question=question,
            ),
            LIMIT,
            False,
        )
        for size in sizes
        for question in (ALL, LISTED, CLOCKS, LATERAL)
    ]
