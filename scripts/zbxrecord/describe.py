"""Computes figures about a recording."""

import collections
import re

from . import pieces, shapes

ROW = re.compile(r"\(\d+,(\d+),")
HISTORY_INSERT = re.compile(r"insert into (history\w*|trends\w*) ", re.I)


def _percentile(sorted_values, share):
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * share))]


class Description:
    """Counts statements as they are read."""

    def __init__(self):
        self.shapes = collections.defaultdict(list)
        self.errors = collections.Counter()
        self.rows = collections.defaultdict(list)
        self.spreads = collections.defaultdict(list)
        self.newest = {}
        self.behind = collections.defaultdict(list)
        self.sessions = 0
        self.last = self.recorded = 0

    def add(self, line):
        """Counts one line of a recording."""
        passed = max(line[0] - self.last, 0)
        self.last += passed
        if passed <= pieces.GAP * 1e6:
            self.recorded += passed
        if len(line) == 3:
            self.sessions += line[2] == "begin"
            return
        took, answered, error, text = line[3], line[5], line[7], line[8]
        self.shapes[shapes.shape_of(text)].append((took, answered))
        if error:
            self.errors[error] += 1
        insert = HISTORY_INSERT.match(text)
        if insert:
            self._insert(insert.group(1).lower(), [int(clock) for clock in ROW.findall(text)])

    def _insert(self, table, clocks):
        if not clocks:
            return
        self.rows[table].append(len(clocks))
        self.spreads[table].append(max(clocks) - min(clocks))
        self.behind[table].append(self.newest.get(table, min(clocks)) - min(clocks))
        self.newest[table] = max(self.newest.get(table, 0), max(clocks))

    def document(self):
        """Returns everything for JSON."""
        return {
            "seconds": self.recorded / 1e6,
            "sessions": self.sessions,
            "statements": sum(len(one) for one in self.shapes.values()),
            "values": sum(map(sum, self.rows.values())),
            "errors": dict(self.errors),
            "reads": self._share("select"),
            "inserts": {table: self._insert_figures(table) for table in sorted(self.rows)},
            "shapes": [self._shape(shape) for shape in self._by_number()],
        }

    def _share(self, kind):
        """The share of a kind among the statements on history and trends."""
        of_history = [shape for shape in self.shapes if shapes.table_of(shape)]
        total = sum(len(self.shapes[shape]) for shape in of_history)
        some = sum(len(self.shapes[s]) for s in of_history if shapes.kind_of(s) == kind)
        return some / total if total else 0

    def _insert_figures(self, table):
        rows, spreads, behind = (
            sorted(figures[table]) for figures in (self.rows, self.spreads, self.behind)
        )
        found = {"statements": len(rows), "values": sum(rows)}
        for name, figures in (("rows", rows), ("spread", spreads), ("behind", behind)):
            for share, word in ((0.5, "median"), (0.9, "p90"), (0.99, "p99"), (1, "most")):
                found["%s_%s" % (name, word)] = _percentile(figures, share)
        return found

    def _by_number(self):
        return sorted(self.shapes, key=lambda shape: -len(self.shapes[shape]))

    def _shape(self, shape):
        taken = sorted(took for took, _ in self.shapes[shape])
        return {
            "shape": shape,
            "statements": len(taken),
            "rows": sum(rows for _, rows in self.shapes[shape]),
            "p50_us": _percentile(taken, 0.5),
            "p99_us": _percentile(taken, 0.99),
            "most_us": taken[-1],
        }


def describe(directory):
    """Returns the figures of a recording."""
    description = Description()
    _, lines = pieces.read(directory)
    for line in lines:
        description.add(line)
    return description.document()


def text_of(document, most=60):
    """Formats them as Markdown."""
    out = [
        "%.0f minutes, %d sessions, %d statements, %d values; of the statements on history and"
        " trends %.0f %% are SELECTs; errors: %s"
        % (
            document["seconds"] / 60,
            document["sessions"],
            document["statements"],
            document["values"],
            document["reads"] * 100,
            ", ".join("%s: %d" % pair for pair in document["errors"].items()) or "none",
        ),
        "",
        "| INSERT into | statements | values | rows, median | 90 % | 99 % | most | seconds between"
        " oldest and newest clock, median | 99 % | behind the newest before, median | 99 % |",
        "|---|" + "---:|" * 10,
    ]
    for table, found in document["inserts"].items():
        names = "statements values rows_median rows_p90 rows_p99 rows_most"
        names += " spread_median spread_p99 behind_median behind_p99"
        cells = [str(found[name]) for name in names.split()]
        out.append("| %s | %s |" % (table, " | ".join(cells)))
    out += [
        "",
        "| statements | rows | p50, ms | p99, ms | most, ms | shape |",
        "|" + "---:|" * 5 + "---|",
    ]
    for entry in document["shapes"][:most]:
        out.append(
            "| %d | %d | %.2f | %.2f | %.2f | `%s` |"
            % (
                entry["statements"],
                entry["rows"],
                entry["p50_us"] / 1e3,
                entry["p99_us"] / 1e3,
                entry["most_us"] / 1e3,
                entry["shape"][:300].replace("|", "\\|"),
            )
        )
    return "\n".join(out)
