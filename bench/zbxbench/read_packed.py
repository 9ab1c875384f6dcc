"""Reading past days: a plain table against packed days, each size of installation for itself.

Whole rows of one item, in their order, for 30 and 100 past days: nothing of
today, which is not packed.  Besides the sizes of the other parts there is the
installation that the size experiment has, a thousand items with a value in
five minutes.
"""

from . import read_parts
from .read_data import Installation, Size

STORES = ("plain", "zbxhist-packed")  # the reference first
REFERENCE = STORES[0]
PARTS = ("packed", "packed cold")  # of the summary

SIZE = Size(1000, 300)
QUICK_SIZE = Size(50, 300)


def days_asked(arguments):
    """How many days are asked for."""
    return sorted({min(30, arguments.days), arguments.days})


def are_there(stores):
    """Whether both stores are."""
    return set(STORES) <= {store.name for store in stores}


def more_installations(arguments, stores):
    """A list of the one that only this part reads; of copies of all stores."""
    size = arguments.packed_size
    if (
        not {"packed", "aggregates"} & set(arguments.parts)
        or size in arguments.sizes
        or not are_there(stores)
    ):
        return []
    return [Installation(size, [store for store in stores if store.name in STORES], arguments.days)]


def measure(cluster, askers, arguments, progress):
    """All sizes, warm and cold."""
    questions = [read_parts.packed_question(days) for days in days_asked(arguments)]
    runs = []
    for asker in askers:
        progress.show("packed, %s" % asker.installation.size.label)
        for store in asker.installation.stores:
            if store.name in STORES:
                store.warm(read_parts.TABLE)
        runs += read_parts.packed(asker, STORES, questions, arguments.rounds, arguments.slice)
        progress.step()
    progress.show("packed, cold")
    runs += read_parts.cold(cluster, askers, questions, min(arguments.rounds, 2), PARTS[1], STORES)
    progress.step()
    return runs


def targets(ratio, sizes, arguments):
    """(sentence, figure, limit, at_least) for each size; ratio finds a ratio by its cell."""
    found = []
    for size in sizes:
        for days in days_asked(arguments):
            text = "%d packed days, %s" % (days, size.label)
            key = {"items": size.items, "question": "%d packed days" % days}
            for part, circumstance, limit in zip(PARTS, ("warm", "cold"), (3, 20)):
                found.append(
                    (
                        "%s: SQL to a plain table, %s, rows a second" % (text, circumstance),
                        ratio("rows_per_second", STORES[1], REFERENCE, part=part, **key),
                        limit,
                        True,
                    )
                )
            found.append(
                (
                    "%s: range to SQL, warm, rows a second" % text,
                    ratio(
                        "rows_per_second", STORES[1] + "-functions", STORES[1], part=PARTS[0], **key
                    ),
                    1,
                    True,
                )
            )
    return found
