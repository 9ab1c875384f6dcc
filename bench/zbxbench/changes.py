"""The changes experiment: rows of the present hour that somebody updates or deletes.

Each store gets the same stream of the present hour by INSERTs.  Then one client
changes single rows, statement after statement, the same in all stores and of
rows that nobody has changed before; and deletes items as Zabbix's housekeeper
does.  What is left must be the same in all of them.
"""

import random

from . import drivers, plots, results, runs, spread
from .experiment import bench, names_of
from .progress import Progress
from .stores import STORES

NAME = "changes"
HELP = "UPDATE and DELETE of rows of the present hour, one by one: CPU"

DEFAULT_STORES = ["plain", "native", "zbxhist", "zbxhist-runs"]
HEAP, OWN = "zbxhist", "zbxhist-runs"
LIMIT = 2  # the project's: runs to heap hours, single rows

BY_KEY = "itemid=%d AND clock=%d AND ns=%d"
HOUSEKEEPER = (
    "delete from history where itemid=%d and ctid = "
    "any(array(select ctid from history where itemid=%d limit %d))"
)
# what is done to a row, by name; the last two as the housekeeper does it
CHANGES = {
    "UPDATE by key": lambda key: "UPDATE history SET value=7 WHERE " + BY_KEY % key,
    "UPDATE by itemid, clock": lambda key: (
        "UPDATE history SET value=8 WHERE itemid=%d AND clock=%d" % key[:2]
    ),
    "DELETE by key": lambda key: "DELETE FROM history WHERE " + BY_KEY % key,
    "a value by ctid": lambda key: HOUSEKEEPER % (key[0], key[0], 1),
    "an item by ctid": lambda key: HOUSEKEEPER % (key[0], key[0], 5000),
}
SINGLE = list(CHANGES)[:3]


def add_arguments(parser):
    """The experiment's own options."""
    parser.add_argument("--stores", help="comma-separated (default: %s)" % ",".join(DEFAULT_STORES))
    parser.add_argument(
        "--items", type=int, help="with a value a minute each (default: 3000; --quick: 600)"
    )
    parser.add_argument(
        "--minutes",
        type=int,
        default=22,
        dest="fill_minutes",
        help="of values (default: %(default)s)",
    )
    parser.add_argument(
        "--statements", type=int, help="of each kind in a round (default: 100; --quick: 20)"
    )
    parser.add_argument("--rounds", type=int, help="(default: 5; --quick: 1)")


def fill_defaults(arguments):
    """What was not given, by form."""
    quick = arguments.quick
    arguments.connections = 1
    arguments.items = arguments.items or (600 if quick else 3000)
    arguments.statements = arguments.statements or (20 if quick else 100)
    arguments.rounds = arguments.rounds or (1 if quick else 5)
    arguments.stores = names_of(arguments, DEFAULT_STORES)


def fill(stores, arguments):
    """The hour as it comes, merged where there are runs."""
    runs.fill(stores, runs.Places(arguments), arguments)
    for store in stores:
        store.execute("ANALYZE " + runs.TABLE)


def keys_of(store, arguments):
    """Keys that are changed, in random order: single rows of one half of the items, and a row
    each of the others."""
    rows = [
        tuple(map(int, row))
        for row in store.execute("SELECT itemid,clock,ns FROM history ORDER BY 1,2,3")
    ]
    half = runs.FIRST_ITEMID + arguments.items // 2
    single = [row for row in rows if row[0] < half]
    whole = list({row[0]: row for row in rows if row[0] >= half}.values())
    chooser = random.Random(1)
    chooser.shuffle(single)
    chooser.shuffle(whole)
    return single, whole


def change(store, name, keys):
    """Microseconds of CPU a statement: of the backend, and of the whole server."""
    reader = store.open_reader("sql")
    try:
        # plans of a session's first statement, and what it has to read of catalogs
        reader.execute("SELECT * FROM history WHERE itemid=0")
        backend, server = reader.server_cpu(), store.server_cpu()
        for key in keys:
            reader.execute(CHANGES[name](key))
        return {
            "cpu_us": (reader.server_cpu() - backend) / len(keys) * 1e6,
            "server_cpu_us": (store.server_cpu() - server) / len(keys) * 1e6,
        }
    finally:
        reader.close()


def measure(stores, arguments):
    """All turns: each round changes other rows, the stores in another order."""
    single, whole = keys_of(stores[0], arguments)
    order, turns = random.Random(1), []
    progress = Progress(arguments.rounds * len(CHANGES) * len(stores), NAME)
    for number in range(arguments.rounds):
        for name in CHANGES:
            pool = single if name in SINGLE else whole
            keys = [pool.pop() for _ in range(arguments.statements)]
            for store in order.sample(stores, len(stores)):
                progress.show("%s, %s, round %d" % (name, store.name, number + 1))
                turn = change(store, name, keys)
                turns.append(dict(turn, change=name, store=store.name, round=number))
                progress.step()
    progress.finish()
    return turns


def verify(stores):
    """All must have the same rows."""
    found = {store.name: drivers.read_back(store, "float") for store in stores}
    first = found[stores[0].name]
    problems = [
        "%s: %s instead of %s" % (name, rows, first)
        for name, rows in found.items()
        if rows != first
    ]
    return problems + [problem for store in stores for problem in store.check()]


def summarize(turns, names):
    """By change and store: spreads, and ratios to the heap hours'."""

    def of(name, store, key):
        some = [turn for turn in turns if turn["change"] == name and turn["store"] == store]
        return [turn[key] for turn in sorted(some, key=lambda turn: turn["round"])]

    return {
        name: {
            store: {
                key: dict(
                    spread.spread(of(name, store, key)),
                    to_heap=spread.ratios(of(name, store, key), of(name, HEAP, key)),
                )
                for key in ("cpu_us", "server_cpu_us")
            }
            for store in names
        }
        for name in CHANGES
    }


def targets(summary):
    """What runs are to reach."""
    found = []
    for name in SINGLE:
        ratio = summary[name].get(OWN, {"cpu_us": {"to_heap": None}})["cpu_us"]["to_heap"]
        if ratio:
            found.append(
                {
                    "target": "%s, runs to the heap's CPU: at most %g" % (name, LIMIT),
                    "value": ratio["median"],
                    "met": ratio["median"] <= LIMIT,
                }
            )
    return found


def show(result):
    """The table of a result."""
    print(
        "\nCPU of the backend, microseconds a statement (to the heap's); %s values, medians of %d rounds"
        % (results.number(result["items"] * result["minutes"]), result["rounds"])
    )
    rows = []
    for name, stores in result["summary"].items():
        row = [name]
        for entry in stores.values():
            ratio = entry["cpu_us"]["to_heap"]
            row.append(
                "%s (%s)"
                % (
                    results.number(entry["cpu_us"]["median"]),
                    results.number(ratio and ratio["median"], 2),
                )
            )
        rows.append(row)
    names = next(iter(result["summary"].values()))
    header = [results.judged(STORES[name].label, name, result["problems"]) for name in names]
    print(results.table(["statement"] + header, rows))


def draw(result, stem):
    """A group of bars each."""
    fig, grid = plots.grid(2, 3, 11.0, 3.2)
    for axes, (name, stores) in zip(grid.flat, result["summary"].items()):
        plots.bars(
            axes,
            list(stores),
            [STORES[store].label for store in stores],
            [entry["cpu_us"] for entry in stores.values()],
        )
        axes.set_ylabel("CPU, µs")
        axes.set_title(name, fontsize=10)
    grid.flat[-1].set_axis_off()
    plots.save(fig, stem)


def run(arguments):
    """The experiment."""
    fill_defaults(arguments)
    with bench(arguments, arguments.stores) as own:
        fill(own.stores, arguments)
        turns = measure(own.stores, arguments)
        summary = summarize(turns, [store.name for store in own.stores])
        return own.conclude(
            NAME,
            {
                "items": arguments.items,
                "minutes": arguments.fill_minutes,
                "statements": arguments.statements,
                "rounds": arguments.rounds,
                "targets": targets(summary),
                "summary": summary,
                "runs": turns,
            },
            verify(own.stores),
            show,
            draw,
        )
