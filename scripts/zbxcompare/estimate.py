"""Estimates what a Zabbix database takes with zbxhist, beside what it takes now.

Disk is computed from the sampled values.  WAL, pages and CPU are computed from measured figures
per value, for ordinary tables too, because what a server writes now is not only for history.
"""

from . import figures, sample

DAY = 86400

# seconds between two values of an item in trends
TREND = 3600

# bytes of a packed day however few values it has: pages, indexes and maps
LEAST_BYTES = (32768, 40960)


def rate_of(table):
    """Values per second.  Trends arrive once an hour, all at once, so their rate is computed
    from the number of items instead of from what was observed."""
    if table["kind"] == "trends":
        return table["items"] / TREND if table["items"] is not None else None
    return table["values_per_second"]


def kept(table):
    """Seconds that values are kept for, and the source of that.  Without a storage period it is
    the time that the rows cover, which is right if old values are being deleted already."""
    if table["retention"]:
        return table["retention"], "Zabbix's settings"
    rate = rate_of(table)
    if rate and table["rows"]:
        return table["rows"] / rate, "rows by their rate"
    return None, None


def rows_kept(table):
    """Number of rows when retention is reached; the present number if that is not known."""
    rate = rate_of(table)
    if table["retention"] and rate:
        return table["retention"] * rate
    return table["rows"]


def with_pages(table):
    """Bytes of a packed value, as a range: those of the sample, and a value's share of what
    each packed day takes.  A table that gets no values counts as one packed day."""
    rate = rate_of(table)
    sizes = table["sample"]["bytes_per_value"]
    values = (rate or 0) * DAY * sample.DAYS_PACKED.get(table["table"], 1) or table["rows"]
    if not values:
        return sizes
    return [round(size + least / values, 2) for size, least in zip(sizes, LEAST_BYTES)]


def disk(table):
    """Bytes when retention is reached: as now, and a range with zbxhist.  There the values of
    the last hours are not packed yet, and take no more than now."""
    rows, rate = rows_kept(table), rate_of(table) or 0
    heap = table["bytes_per_value"] or 0
    now = rows * heap
    if table["sample"] is None:
        return {"plain": now, "zbxhist": None}
    fresh = 0 if table["kind"] == "trends" else rate * DAY * figures.unpacked("zbxhist")
    packed = [
        min(rows * size + fresh, rows * max(size, heap))
        for size in table["sample"]["bytes_per_value"]
    ]
    return {"plain": now, "zbxhist": packed}


def rows_a_statement(tables):
    """Mean rows per INSERT into history; None if statements are not counted."""
    known = [t for t in tables if t["kind"] == "history" and t["statements"]]
    calls = sum(t["values_per_second"] / t["statements"]["rows_per_statement"] for t in known)
    rows = sum(t["values_per_second"] for t in known)
    return rows / calls if calls else None


def writing(tables, checkpoint_timeout):
    """CPU, WAL and pages per second of history, each as a range: for the statements that were
    counted, else for 10 to 1000 rows per statement."""
    rate = sum(t["values_per_second"] for t in tables if t["kind"] == "history")
    known = rows_a_statement(tables)
    rows = (known, known) if known else (figures.ROWS[-1], figures.ROWS[0])
    found = {}
    for kind in figures.KINDS:
        found[kind] = {
            "cores": [rate * figures.cpu(kind, n) / 1e6 for n in rows],
            "wal_per_second": [rate * figures.wal(kind, n, checkpoint_timeout) for n in rows],
            "pages_per_second": [rate * figures.pages(kind, checkpoint_timeout)] * 2,
        }
    return found


def together(tables, kind):
    """The disk of all tables; tables without a sample count with their present size."""
    low = high = 0
    for table in tables:
        size = table["disk"][kind] or table["disk"]["plain"]
        low += size if kind == "plain" else (size[0] if isinstance(size, list) else size)
        high += size if kind == "plain" else (size[1] if isinstance(size, list) else size)
    return [low, high]


def expect(found):
    """Adds the estimates to a sample.  All are whole numbers except cores."""
    tables = found["tables"]
    for table in tables:
        table["values_per_second_expected"] = rate_of(table)
        if table["sample"] is not None:
            table["sample"]["bytes_per_value"] = with_pages(table)
        table["kept"], table["kept_source"] = kept(table)
        table["rows_kept"] = round(rows_kept(table))
        table["disk"] = {
            kind: [round(n) for n in size] if isinstance(size, list) else size and round(size)
            for kind, size in disk(table).items()
        }
    found["rows_per_statement"] = rows_a_statement(tables)
    found["expected"] = writing(tables, found["server"]["checkpoint_timeout"])
    for kind, numbers in found["expected"].items():
        numbers["disk"] = together(tables, kind)
        for name, pair in numbers.items():
            digits = 5 if name == "cores" else 0
            numbers[name] = [round(n, digits) if digits else round(n) for n in sorted(pair)]
    return found
