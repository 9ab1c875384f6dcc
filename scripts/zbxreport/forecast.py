"""Forecasts the size of a table with its retention.

A day in the future takes as much as the last full days when packed, if the policy packs at all.
A day goes when its last value expires.  Of an archived day only the part that stays here counts.
"""

DAY = 86400

# full days of which the mean is taken
RATE_DAYS = 7

# points of the forecast, and its length in days without a retention
POINTS = 60
HORIZON = 365


def full_days(table):
    """The days that are over and have values."""
    return [d for d in table["days"] if not d["is_current"] and d["bytes"] > 0]


def packed_size(table):
    """Bytes per value in packed days, on any server; None if nothing is or will be packed."""
    days = table["days"]
    values = sum(d["packed_values"] for d in days)
    if table["pack_after"] is None or values == 0:
        return None
    return sum(d["packed_bytes"] + d["archived_bytes"] for d in days) / values


def left_here(table):
    """The share of a packed day that stays here when it is archived; None if none is
    archived."""
    here = sum(d["archived_bytes_here"] for d in table["days"])
    everywhere = here + sum(d["archived_bytes"] for d in table["days"])
    return here / everywhere if everywhere else None


def settled_bytes(day, size):
    """Bytes that a day takes here, or will take when it is packed."""
    if size is None:
        return day["bytes"]
    return day["packed_bytes"] + day["heap_values"] * size


def bytes_to_be(table, day, size, moment):
    """The same at a time in the future, when it may be archived."""
    part = left_here(table)
    settled = settled_bytes(day, size)
    if (
        part is None
        or table["archive_after"] is None
        or day["to"] > moment - table["archive_after"]
    ):
        return settled
    return day["archived_bytes_here"] + (settled - day["archived_bytes_here"]) * part


def rate(table, size):
    """Bytes and values of a day in the future; (0, 0) if there is no full day."""
    recent, seconds = [], 0
    days = full_days(table)
    # without the first day, during which values may have begun
    for day in reversed(days[1:] or days):
        recent.append(day)
        seconds += day["to"] - (day["from"] if days[1:] else max(day["from"], day["since"] or 0))
        if seconds >= RATE_DAYS * DAY:
            break
    if not recent:
        return 0, 0
    return (
        sum(settled_bytes(d, size) + d["archived_bytes"] for d in recent) * DAY / seconds,
        sum(d["heap_values"] + d["packed_values"] for d in recent) * DAY / seconds,
    )


def per_second(table, values, now):
    """Values per second: of full days, else since the first value of today's partitions."""
    if values:
        return values / DAY
    today = [d for d in table["days"] if d["is_current"] and d["since"] is not None]
    seconds = sum(now - d["since"] for d in today)
    if seconds <= 0:
        return 0
    return sum(d["heap_values"] + d["packed_values"] for d in today) / seconds


def fixed_bytes(table, size, moment, now):
    """Bytes that do not belong to days: the table itself, until all its rows have expired, and
    the difference between unpacked days and their packed size, because some days are always
    unpacked."""
    unpacked = sum(d["bytes"] - settled_bytes(d, size) for d in table["days"])
    is_gone = table["retention"] and moment - now >= table["retention"]
    return (0 if is_gone else table["parent_bytes"]) + max(0, unpacked)


def bytes_at(table, moment, now, size, daily):
    """Bytes of the table at a time in the future."""
    since = moment - table["retention"] if table["retention"] else None
    kept = [d for d in table["days"] if since is None or d["to"] > since]
    new_days = (moment - now) / DAY
    if since is not None:
        new_days = min(new_days, table["retention"] / DAY)
    whole_days, part = new_days, left_here(table)
    if part is not None and table["archive_after"] is not None:
        whole_days = min(new_days, table["archive_after"] / DAY)
    return (
        fixed_bytes(table, size, moment, now)
        + sum(bytes_to_be(table, d, size, moment) for d in kept)
        + whole_days * daily
        + (new_days - whole_days) * daily * (part or 0)
    )


def forecast(table, now):
    """Returns the rate, the final size, the time when it is reached, and points in between."""
    size = packed_size(table)
    daily, values = rate(table, size)
    # today alone does not tell how much a day takes
    is_known = daily > 0 or not any(d["heap_values"] + d["packed_values"] for d in table["days"])
    end = table["retention"] // DAY + 1 if table["retention"] else HORIZON
    step = max(1, end // POINTS)
    points = [
        [now + days * DAY, round(bytes_at(table, now + days * DAY, now, size, daily))]
        for days in range(0, end + step, step)
    ]
    return {
        "bytes_per_day": round(daily),
        "values_per_day": round(values),
        "values_per_second": round(per_second(table, values, now), 2),
        "is_packed": size is not None,
        "ends_at": now + end * DAY if table["retention"] else None,
        "bytes_at_end": points[-1][1] if table["retention"] and is_known else None,
        "most_bytes": max(p[1] for p in points) if daily else table["bytes"],
        "points": points if daily else [],
    }
