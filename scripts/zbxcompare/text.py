"""The comparison as plain text."""

from zbxreport.text import count, decimal, moment, size, span

HEADS = ("as it is stored now", "with zbxhist")
KINDS = ("plain", "zbxhist")


def clean(text):
    """A name without control characters, for a terminal."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


def columns(lines):
    """Aligns lines of cells as columns; the first is left-aligned."""
    lines = [[clean(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "".join(
        "  "
        + "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        + "\n"
        for line in lines
    )


def percent(share):
    """A share as a percentage."""
    return "–" if share is None else f"{100 * share:.0f} %"


def between(pair, form):
    """A range, or one number if both ends look the same."""
    if pair is None:
        return "–"
    if not isinstance(pair, list):
        return form(pair)
    low, high = form(pair[0]), form(pair[1])
    return low if low == high else f"{low} to {high}"


def rate(number):
    """Bytes a second."""
    return "–" if number is None else f"{size(number)}/s"


def what_is_there(found):
    """Describes the tables as they are."""
    lines = [
        (
            "",
            "values/s",
            "rows a statement",
            "items",
            "rows",
            "on disk",
            "of it indexes",
            "bytes a value",
            "dead or empty",
            "kept for",
        )
    ]
    for table in found["tables"]:
        statements = table["statements"]
        lines.append(
            (
                table["table"],
                decimal(table["values_per_second"], 2),
                decimal(statements and statements["rows_per_statement"]),
                count(table["items"]),
                count(table["rows"]),
                size(table["bytes"]),
                size(table["index_bytes"]),
                decimal(table["bytes_per_value"]),
                percent(table["bloat"]),
                span(table["kept"]) if table["kept"] else "–",
            )
        )
    return columns(lines)


def what_values_are_like(found):
    """Describes the sampled values."""
    lines = [
        (
            "",
            "items looked at",
            "values",
            "share their times",
            "decimals",
            "bits of ns",
            "bytes a packed value",
        )
    ]
    for table in found["tables"]:
        sample = table["sample"]
        if sample:
            lines.append(
                (
                    table["table"],
                    count(sample["items"]),
                    count(sample["values"]),
                    percent(sample["sharing_times"]),
                    percent(sample["decimals"]),
                    decimal(sample["ns_bits"]),
                    between(sample["bytes_per_value"], decimal),
                )
            )
    return columns(lines) if len(lines) > 1 else "  No value could be looked at.\n"


def what_to_expect(found):
    """Shows the present figures beside the estimates."""
    expected = found["expected"]
    lines = [("", *HEADS)]
    for label, name, form in (
        ("disk with this retention", "disk", size),
        ("WAL and network to a standby", "wal_per_second", rate),
        ("pages written", "pages_per_second", rate),
        ("CPU, cores", "cores", lambda n: f"{n:.3f}"),
    ):
        lines.append((label, *(between(expected[kind][name], form) for kind in KINDS)))
    return columns(lines)


def of_the_server(found):
    """Describes what the whole server does, whatever the cause."""
    server = found["server"]
    times = [
        f"{clean(t['table'])} {decimal(t['statements']['us_per_value'])} µs"
        for t in found["tables"]
        if t["statements"]
    ]
    text = (
        f"The whole server wrote {rate(server['wal_per_second'])} of WAL meanwhile; since its counters were reset "
        f"{rate(server['wal_per_second_long'])} of WAL and {rate(server['pages_per_second_long'])} of pages.\n"
    )
    if times:
        text += f"An inserted value takes here, with all waiting: {', '.join(times)}.\n"
    return text


def notes(found):
    """Says what the figures do not cover."""
    rows = found["rows_per_statement"]
    text = (
        "Disk is told from the values looked at, as a range.  WAL, pages and CPU are those of history alone, in both\n"
        "columns computed from figures a value that were measured elsewhere (docs/scale.md says where): expect the\n"
        "ratio rather than the figure.\n"
    )
    if rows is None:
        text += (
            "Nobody counts rows a statement here (pg_stat_statements does): the ranges of WAL and CPU are from 1000 rows\n"
            "to 10.  With 10 there is little to gain.\n"
        )
    elif rows < 10:
        text += f"Statements of {decimal(rows)} rows were not measured, those of 10 were: WAL and CPU are extrapolated.\n"
    for section, problem in found["unreadable"].items():
        text += f"Left out: {clean(section)}: {clean(problem)}\n"
    return text


def render(found):
    """Returns the whole text."""
    server = found["server"]
    total = sum(t["values_per_second"] for t in found["tables"])
    return (
        f"{clean(server['database'])} on PostgreSQL {clean(server['postgresql'])}, {moment(found['time'])} UTC, "
        f"watched for {span(found['seconds'])}: {decimal(total)} values a second\n\n"
        f"What is there\n\n{what_is_there(found)}\n"
        f"What its values are like\n\n{what_values_are_like(found)}\n"
        f"What is to be expected\n\n{what_to_expect(found)}\n"
        f"{of_the_server(found)}{notes(found)}"
    )
