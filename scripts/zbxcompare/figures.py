"""Measured figures, and what is computed from them.

figures.json has them all, each with the file of bench/results that it comes from.  If it is
computed from two results, it says so.
"""

import json
import os

DAY = 86400

# keys of figures.json: values inserted into ordinary tables, and native partitions alike,
# and into hours of zbxhist
KINDS = ("plain", "zbxhist")

# rows per statement that were measured
ROWS = (10, 100, 1000)

# checkpoint intervals that were measured, in seconds
CHECKPOINTS = {900: "day", 300: "five"}


def load():
    """Returns the figures by name."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "figures.json")
    with open(path, encoding="utf-8") as file:
        return {figure["name"]: figure["value"] for figure in json.load(file)}


FIGURES = load()


def by_rows(what, kind, rows):
    """Interpolates a figure for a number of rows per statement.  The rows of a statement share
    its cost, so the figure is linear in 1 / rows.  Below the measured range the same line is
    used; above it the figure of the most rows."""
    rows = min(max(rows, 1), ROWS[-1])
    below, above = (ROWS[0], ROWS[1]) if rows <= ROWS[1] else (ROWS[1], ROWS[2])
    first, last = (FIGURES[f"{what}_{kind}_{n}"] for n in (below, above))
    share = (1 / rows - 1 / above) / (1 / below - 1 / above)
    return last + (first - last) * share


def beyond_a_thousand(what, kind, rows):
    """How much more a value costs than with 1000 rows per statement."""
    return by_rows(what, kind, rows) - FIGURES[f"{what}_{kind}_{ROWS[-1]}"]


def cpu(kind, rows):
    """Microseconds of CPU per value, of the whole server: those of the measured day with 1000
    rows per statement, plus what smaller statements cost more."""
    return FIGURES[f"day_cpu_{kind}"] + beyond_a_thousand("cpu", kind, rows)


def checkpoint(seconds):
    """The measured day whose checkpoint interval is the nearest."""
    if seconds is None:
        return "day"
    return CHECKPOINTS[min(CHECKPOINTS, key=lambda measured: abs(measured - seconds))]


def wal(kind, rows, seconds):
    """Bytes of WAL per value, full-page images, packing and compaction included."""
    return FIGURES[f"{checkpoint(seconds)}_wal_{kind}"] + beyond_a_thousand("wal", kind, rows)


def pages(kind, seconds):
    """Bytes of pages written per value."""
    return FIGURES[f"{checkpoint(seconds)}_pages_{kind}"]


def unpacked(kind):
    """Bytes per value of a day that are taken beyond its packed size, because the last hours
    are not packed yet."""
    return FIGURES[f"day_disk_before_{kind}"] - FIGURES[f"day_disk_settled_{kind}"]


def segment_bytes():
    """Bytes of an item's day besides its values, computed from directories and headers of
    segments."""
    segments = FIGURES["payload_items"] * FIGURES["payload_days"]
    return (FIGURES["payload_directory"] + FIGURES["payload_heads"]) / segments


def page_overhead():
    """The factors, least and greatest of two data sets, by which pages, index and maps increase
    packed bytes."""
    factors = [
        FIGURES[f"packed_{name}"]
        / (FIGURES[f"payload_{name}_bytes"] / FIGURES[f"payload_{name}_values"])
        for name in ("float", "float_ns0")
    ]
    return min(factors), max(factors)
