"""Figures that were measured, and what follows from them.

figures.json has them all, each with the file of bench/results that it is from.
What is computed of two of them says so where it stands.
"""

import json
import os

DAY = 86400

# of figures.json: values that are inserted into ordinary tables and native
# partitions alike, and into hours of zbxhist
KINDS = ("plain", "zbxhist")

# rows a statement that were measured
ROWS = (10, 100, 1000)

# checkpoints that were measured, in seconds
CHECKPOINTS = {900: "day", 300: "five"}


def load():
    """The figures by name."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "figures.json")
    with open(path, encoding="utf-8") as file:
        return {figure["name"]: figure["value"] for figure in json.load(file)}


FIGURES = load()


def by_rows(what, kind, rows):
    """A figure for so many rows a statement.  What a statement costs is shared by
    its rows, so it is a line in 1 / rows between those that were measured; of
    fewer than the least it is the same line further on, of more the last."""
    rows = min(max(rows, 1), ROWS[-1])
    below, above = (ROWS[0], ROWS[1]) if rows <= ROWS[1] else (ROWS[1], ROWS[2])
    first, last = (FIGURES[f"{what}_{kind}_{n}"] for n in (below, above))
    share = (1 / rows - 1 / above) / (1 / below - 1 / above)
    return last + (first - last) * share


def beyond_a_thousand(what, kind, rows):
    """How much more a value costs than with 1000 rows a statement."""
    return by_rows(what, kind, rows) - FIGURES[f"{what}_{kind}_{ROWS[-1]}"]


def cpu(kind, rows):
    """Microseconds of CPU a value, of the whole server: of a day with statements of
    1000 rows, and what statements of fewer rows cost more."""
    return FIGURES[f"day_cpu_{kind}"] + beyond_a_thousand("cpu", kind, rows)


def checkpoint(seconds):
    """Which day's checkpoints are the nearest."""
    if seconds is None:
        return "day"
    return CHECKPOINTS[min(CHECKPOINTS, key=lambda measured: abs(measured - seconds))]


def log(kind, rows, seconds):
    """Bytes of WAL a value, images of pages, packing and compaction among them."""
    return FIGURES[f"{checkpoint(seconds)}_log_{kind}"] + beyond_a_thousand("log", kind, rows)


def pages(kind, seconds):
    """Bytes of pages written for a value."""
    return FIGURES[f"{checkpoint(seconds)}_pages_{kind}"]


def unpacked(kind):
    """Bytes that a value a day takes beyond its packed size: of a day's values, all
    but those of the last hours are packed."""
    return FIGURES[f"day_disk_before_{kind}"] - FIGURES[f"day_disk_settled_{kind}"]


def segment_bytes():
    """Bytes that an item's day takes besides its values, computed of the directories
    and the heads of segments."""
    segments = FIGURES["payload_items"] * FIGURES["payload_days"]
    return (FIGURES["payload_directory"] + FIGURES["payload_heads"]) / segments


def page_overhead():
    """What pages, the index and maps add to packed bytes, as factors: the least and
    the greatest, computed of two data sets."""
    factors = [
        FIGURES[f"packed_{name}"]
        / (FIGURES[f"payload_{name}_bytes"] / FIGURES[f"payload_{name}_values"])
        for name in ("float", "float_ns0")
    ]
    return min(factors), max(factors)
