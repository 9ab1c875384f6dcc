"""The newest value of many items in one statement.

As people write it by hand, for reports and dashboards: DISTINCT ON, max(clock)
with GROUP BY, and a LATERAL subquery for each item.  All items are asked for, or
a list of them; answers are compared.
"""

import random

from . import read_parts
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

    def asked(_, round_number):
        chooser = random.Random(round_number)
        return statements(installation.items(chooser, min(ITEMS, installation.size.items)))

    found = read_parts.compared(asker, PART, arguments.rounds, asked)
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
