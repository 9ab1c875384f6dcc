"""The table of docs/scale.md: what a number of values per second needs, by measured figures per
value."""

from . import figures

RATES = (1000, 10000, 50000, 100000, 200000, 500000, 1000000)
DAYS = 90

# rows per statement, and seconds between checkpoints
ROWS = 1000
CHECKPOINT = 900


def thousands(number):
    """A whole number with thousands separators."""
    return f"{number:,.0f}"


def short(number):
    """A number with three significant digits."""
    digits = 0 if number >= 100 else 1 if number >= 10 else 2 if number >= 1 else 3
    return f"{number:,.{digits}f}"


def terabytes(kind, rate):
    """Disk for the given days, in TB of 10^12 bytes."""
    size = figures.FIGURES[f"day_disk_settled_{kind}"]
    return (rate * figures.DAY * DAYS * size + rate * figures.DAY * figures.unpacked(kind)) / 1e12


def line(rate):
    """A line of the table."""
    cells = [thousands(rate)]
    cells.append(" / ".join(short(rate * figures.cpu(k, ROWS) / 1e6) for k in figures.KINDS))
    cells.append(" / ".join(short(terabytes(k, rate)) for k in figures.KINDS))
    wal = [rate * figures.wal(k, ROWS, CHECKPOINT) for k in figures.KINDS]
    cells.append(" / ".join(short(n / 1e6) for n in wal))
    cells.append(" / ".join(short(n * 8 / 1e6) for n in wal))
    cells.append(
        " / ".join(short(rate * figures.pages(k, CHECKPOINT) / 1e6) for k in figures.KINDS)
    )
    cells.append(short(rate * 3600 / figures.FIGURES["pack_rate"] / 60))
    return f"| {' | '.join(cells)} |"


def table():
    """The table in Markdown."""
    heads = (
        "values a second",
        "cores",
        f"disk, {DAYS} days, TB",
        "WAL, MB/s",
        "to a standby, Mbit/s",
        "pages written, MB/s",
        "packing an hour, minutes",
    )
    lines = [f"| {' | '.join(heads)} |", "|" + "---:|" * len(heads)]
    return "\n".join(lines + [line(rate) for rate in RATES]) + "\n"
