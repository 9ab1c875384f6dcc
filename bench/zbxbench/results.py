"""Result files and tables."""

import json
import math
import pathlib
import re

from . import environment

RESULTS = environment.BENCH / "results"


def path_of(name, suffix, directory=None):
    """The path of a result with this name."""
    target = pathlib.Path(directory) if directory else RESULTS
    target.mkdir(parents=True, exist_ok=True)
    return target / (name + suffix)


def base_name(arguments, name):
    """The base name of an experiment's files, unless the command line gives one."""
    return arguments.name or name + ("-quick" if arguments.quick else "")


def _rounded(value):
    """Rounds fractions to seven digits; a result does not have more."""
    if isinstance(value, dict):
        return {key: _rounded(element) for key, element in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(element) for element in value]
    if isinstance(value, float) and math.isfinite(value):
        return round(value) if abs(value) >= 1e7 else float("%.7g" % value)
    return value


def _text(result):
    """JSON with one line per entry and run: readable, with small diffs."""
    entries = []
    for key, value in result.items():
        if isinstance(value, list) and value:
            text = "[\n  %s]" % ",\n  ".join(json.dumps(element) for element in value)
        else:
            text = json.dumps(value)
        entries.append(" %s: %s" % (json.dumps(key), text))
    return "{\n%s\n}\n" % ",\n".join(entries)


def save(name, result, directory=None):
    """Writes the JSON file; returns its name for messages."""
    path = path_of(name, ".json", directory)
    path.write_text(_text(_rounded(result)), encoding="utf-8")
    return path.name


def _columns(rows):
    return [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]


def table(header, rows):
    """A Markdown table with aligned columns; the first is left-aligned."""
    cells = [[str(cell) for cell in row] for row in [header] + rows]
    widths = _columns(cells)

    def line(row):
        padded = [row[0].ljust(widths[0])]
        padded += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        return "| " + " | ".join(padded) + " |"

    rule = (
        "|"
        + "|".join("-" * (width + 1) + ("-" if i == 0 else ":") for i, width in enumerate(widths))
        + "|"
    )
    return "\n".join([line(cells[0]), rule] + [line(row) for row in cells[1:]])


def number(value, digits=0):
    """A number for people; a dash for None."""
    if value is None:
        return "-"
    return "{:,.{}f}".format(value, digits)


def spread_text(values, digits=0):
    """A spread for people."""
    return "%s [%s-%s]" % tuple(number(values[key], digits) for key in ("median", "min", "max"))


def ratio_text(ratio):
    """The spread of a ratio, if there is one."""
    return spread_text(ratio, 2) if ratio else "-"


def judged(label, name, problems):
    """A store's label for a table; it says so if the store lost or changed something.

    A problem is a sentence that begins with the store's name.
    """
    is_wrong = any(re.match(re.escape(name) + r"(?![\w-])", problem) for problem in problems)
    return label + " (WRONG)" if is_wrong else label


def conclude(name, result, problems, directory=None):
    """Saves the result and prints its problems; returns the exit code."""
    print("\nsaved as %s" % save(name, result, directory))
    for problem in problems:
        print("WRONG: " + problem)
    return 1 if problems else 0
