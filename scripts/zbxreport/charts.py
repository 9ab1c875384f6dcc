"""Charts as inline SVG.  They are stretched to the available width.  Their text is beside them,
in HTML, so that it stays readable on a phone."""

from .text import day, decimal, escape, size

WIDTH = 1000
HEIGHT = 100

DAY = 86400


def drawing(shapes, label, low=False):
    """A drawing, with its label for screen readers."""
    return (
        f'<div class="chart{" low" if low else ""}"><svg role="img" aria-label="{escape(label)}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none">'
        f'<line class="grid" x1="0" x2="{WIDTH}" y1="{HEIGHT / 2}" y2="{HEIGHT / 2}"/>'
        f'{"".join(shapes)}</svg>'
    )


def scale(*labels):
    """Labels below a drawing, from left to right."""
    return f'<div class="scale">{"".join(f"<span>{escape(x)}</span>" for x in labels)}</div></div>'


def place(clock, first, last):
    """The horizontal position of a time."""
    return (clock - first) * WIDTH / max(1, last - first)


def timeline(days):
    """Bytes per day by kind of storage.  A month is as wide as its days, and as high as one of
    them."""
    if not days:
        return ""
    first, last = days[0]["from"], max(d["to"] for d in days)

    def length(item):
        return (item["to"] - item["from"]) / DAY

    top = max(d["bytes"] / length(d) for d in days) or 1
    shapes = []
    for item in days:
        left = place(item["from"], first, last)
        width = max(0.6, place(item["to"], first, last) - left - WIDTH / 2000)
        bottom = HEIGHT
        for kind in ("packed", "heap"):
            height = item[f"{kind}_bytes"] / length(item) / top * HEIGHT
            if height == 0:
                continue
            # draw at least a visible bar if there is anything
            height = max(height, 1)
            bottom -= height
            shapes.append(
                f'<rect class="{kind}{" current" if item["is_current"] else ""}" '
                f'x="{left:.2f}" y="{max(0, bottom):.2f}" width="{width:.2f}" height="{height:.2f}">'
                f"<title>{day(item['from'])}: {size(item[kind + '_bytes'])} {kind}</title></rect>"
            )
    return drawing(shapes, f"disk by day, up to {size(top)}") + scale(
        day(first), f"highest: {size(top)} a day", day(last - 1)
    )


def value_sizes(days):
    """Bytes per value, day by day."""
    known = [d for d in days if d["bytes_per_value"] and not d["is_current"]]
    if len(known) < 2:
        return ""
    first, last = known[0]["from"], known[-1]["to"]
    top = max(d["bytes_per_value"] for d in known)
    shapes = []
    for item in known:
        left = place(item["from"], first, last)
        width = max(0.6, place(item["to"], first, last) - left - WIDTH / 2000)
        height = item["bytes_per_value"] / top * HEIGHT
        kind = "packed" if item["packed_values"] >= item["heap_values"] else "heap"
        shapes.append(
            f'<rect class="{kind}" x="{left:.2f}" y="{HEIGHT - height:.2f}" width="{width:.2f}" '
            f'height="{height:.2f}"><title>{day(item["from"])}: '
            f'{decimal(item["bytes_per_value"])} bytes a value</title></rect>'
        )
    return drawing(shapes, f"bytes a value by day, up to {decimal(top)}", low=True) + scale(
        day(first), f"highest: {decimal(top)} bytes", day(last - 1)
    )


def forecast(points, now_bytes):
    """The expected size."""
    if len(points) < 2:
        return ""
    first, last = points[0][0], points[-1][0]
    top = max(max(p[1] for p in points), now_bytes, 1) * 1.05
    path = " ".join(
        f"{place(clock, first, last):.2f},{HEIGHT - number / top * HEIGHT:.2f}"
        for clock, number in points
    )
    return drawing(
        [
            f'<polygon class="area" points="0,{HEIGHT} {path} {WIDTH},{HEIGHT}"/>',
            f'<polyline class="line" points="{path}"/>',
        ],
        f"forecast of the disk, up to {size(top / 1.05)}",
    ) + scale(day(first), f"highest: {size(top / 1.05)}", day(last))


def durations(days):
    """Seconds of maintenance, day by day."""
    if len(days) < 2:
        return ""
    first, last = days[0]["day"], days[-1]["day"] + DAY
    top = max(float(d["seconds"]) for d in days) or 1
    shapes = []
    for item in days:
        left = place(item["day"], first, last)
        height = max(float(item["seconds"]) / top * HEIGHT, 1)
        shapes.append(
            f'<rect class="{"heap" if item["failed"] else "packed"}" x="{left:.2f}" '
            f'y="{HEIGHT - height:.2f}" width="{max(0.6, WIDTH * DAY / (last - first) - 1):.2f}" '
            f'height="{height:.2f}"><title>{day(item["day"])}: {decimal(item["seconds"])} s</title></rect>'
        )
    return drawing(shapes, "seconds of maintenance by day", low=True) + scale(
        day(first), f"highest: {decimal(top)} s a day", day(last - 1)
    )
