"""Numbers, times and names as HTML.  Everything from the database goes through escape(),
because anybody could have chosen the names of items and hosts."""

import datetime
import html


def escape(text):
    """Text as HTML; None becomes empty."""
    return "" if text is None else html.escape(str(text), quote=True)


# most characters of a name that are shown
NAME_LENGTH = 120


def name(text):
    """A name from the database: its beginning if it is long, isolated so that its writing
    direction affects nothing else."""
    text = "" if text is None else str(text)
    if len(text) <= NAME_LENGTH:
        return f"<bdi>{escape(text)}</bdi>"
    return f'<bdi title="{escape(text)}">{escape(text[:NAME_LENGTH])}…</bdi>'


def size(number):
    """Formats bytes."""
    if number is None:
        return "–"
    number = float(number)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(number) < 1000 or unit == "TB":
            break
        number /= 1024
    digits = 0 if unit == "B" or abs(number) >= 100 else 1
    return f"{number:.{digits}f} {unit}"


def count(number):
    """Formats a number of values."""
    if number is None:
        return "–"
    number = float(number)
    for unit in ("", " k", " M", " G", " T"):
        if abs(number) < 1000 or unit == " T":
            break
        number /= 1000
    digits = 0 if unit == "" or abs(number) >= 100 else 1
    return f"{number:.{digits}f}{unit}"


def decimal(number, digits=1):
    """Formats a number with some decimals."""
    return "–" if number is None else f"{float(number):.{digits}f}"


def span(seconds):
    """Formats a duration in its largest unit of which it has at least one."""
    if seconds is None:
        return "–"
    seconds = float(seconds)
    if abs(seconds) >= 86400:
        days = f"{seconds / 86400:.3g}"
        return days + (" day" if days == "1" else " days")
    for unit, length in (("h", 3600), ("min", 60)):
        if abs(seconds) >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"


def moment(clock):
    """Formats a time in UTC."""
    if clock is None:
        return "–"
    return (
        datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        + datetime.timedelta(seconds=int(clock))
    ).strftime("%Y-%m-%d %H:%M")


def day(clock):
    """Formats the UTC day of a time."""
    return moment(clock)[:10]


def rows(columns, lines):
    """A table.  columns are (heading, class), lines their cells as HTML.  On a phone each line
    becomes a block whose cells are labelled."""
    head = "".join(f'<th class="{kind}">{escape(label)}</th>' for label, kind in columns)
    body = []
    for line in lines:
        cells = []
        for (label, kind), cell in zip(columns, line):
            shown = f' data-label="{escape(label)}"' if kind != "name" else ""
            cells.append(f'<td class="{kind}"{shown}>{cell}</td>')
        body.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<table class="rows"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'
    )
