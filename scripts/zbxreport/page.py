"""Makes the report's HTML page."""

from . import charts
from .style import CSS
from .text import count, day, decimal, escape, moment, name, rows, size, span

SEVERITIES = ("error", "warning", "info")


def short(table):
    """A table's name, without the schema public."""
    return table[len("public.") :] if table.startswith("public.") else table


def anchor(number):
    """The HTML id of a table's section."""
    return f"table-{number}"


def unless_unreadable(report, section, html):
    """A section, or the reason why it is missing."""
    problem = report["unreadable"].get(section)
    if problem is None:
        return html
    return f'<p class="soft">Cannot be read: {escape(problem)}</p>'


# ---- the top ----


def tile(label, value, kind=""):
    """A figure with its label."""
    return f'<div class="tile {kind}"><b>{escape(value)}</b><span>{escape(label)}</span></div>'


def lines_of(report, severity):
    """Counts the lines of check() of this severity."""
    return sum(line["severity"] == severity for line in report["check"])


def overall(report):
    """The overall state: a word and its kind."""
    if "check" in report["unreadable"]:
        return "not known", "warn"
    for severity, kind in (("error", "bad"), ("warning", "warn")):
        lines = lines_of(report, severity)
        if lines:
            return f"{lines} {severity}{'s' if lines > 1 else ''}", kind
    return "all is well", "good"


def per_second(tables):
    """Values per second of all tables."""
    return sum(t["forecast"]["values_per_second"] for t in tables)


def tiles(report):
    """The most important figures."""
    tables = report["tables"]
    days = [d for t in tables for d in t["days"]]
    archived = sum(d["archived_bytes"] for d in days)
    packed = sum(d["packed_bytes"] for d in days) + archived
    before = sum(d["bytes_before_packing"] for d in days)
    values = sum(d["packed_values"] for d in days)
    successes = [t["last_success"] for t in tables]
    last = None if None in successes or not successes else min(successes)
    age = None if last is None else report["server"]["time"] - last
    late = age is None or age > 7200
    at_end = [t["forecast"]["bytes_at_end"] for t in tables]
    word, kind = overall(report)
    found = [
        tile("check()", word, kind),
        tile("on the disk, all tables", size(sum(t["bytes"] for t in tables))),
        *([tile("on archive servers", size(archived))] if archived else []),
        tile(
            "when retention is reached",
            "–" if None in at_end or not at_end else size(sum(at_end)),
        ),
        tile("values a second", decimal(per_second(tables))),
        tile("bytes a packed value", decimal(packed / values, 2) if values else "–"),
    ]
    if before and packed:
        found.append(tile("smaller by packing", f"{before / packed:.1f} times"))
        found.append(tile("saved so far", size(sum(t["saved_bytes"] or 0 for t in tables))))
    found.append(
        tile(
            "since maintenance succeeded for all",
            "never" if age is None else span(age),
            "warn" if late and tables else "",
        )
    )
    return f'<div class="tiles">{"".join(found)}</div>'


def header(report):
    """The heading: server, database and time."""
    server = report["server"]
    links = [
        f'<a href="#{anchor(i)}">{escape(short(t["table"]))}</a>'
        for i, t in enumerate(report["tables"])
    ]
    links += [
        f'<a href="#{target}">{label}</a>'
        for target, label in (
            ("maintenance", "maintenance"),
            ("damage", "damage"),
            ("settings", "settings"),
        )
    ]
    return (
        f'<h1>{name(server["database"])}: Zabbix’s values</h1>'
        f'<p class="sub">{moment(server["time"])} UTC · zbxhist {escape(server["zbxhist"])} · '
        f'PostgreSQL {escape(server["postgresql"])} · database of {size(server["database_bytes"])}'
        f'{" · a standby" if server["in_recovery"] else ""} · seen by {name(server["role"])}</p>'
        f'<nav>{"".join(links)}</nav>'
    )


def check(report):
    """The lines of check()."""
    lines = [
        [
            f'{escape(line["message"])}'
            + (f'<code class="command">{escape(line["hint"])}</code>' if line["hint"] else ""),
            f'<span class="mark {line["severity"] if line["severity"] in SEVERITIES else "info"}">'
            f'{escape(line["severity"])}</span>',
            name(line["object"]),
        ]
        for line in sorted(
            report["check"],
            key=lambda x: SEVERITIES.index(x["severity"]) if x["severity"] in SEVERITIES else 9,
        )
    ]
    body = (
        rows([("what", "name"), ("severity", ""), ("of", "text")], lines)
        if lines
        else '<p class="ok">No line: all is well.</p>'
    )
    return f'<h2 id="check">check()</h2><div class="card">{unless_unreadable(report, "check", body)}</div>'


def progress(report):
    """Operations in progress."""
    if not report["progress"]:
        return ""
    lines = [
        [
            f'{escape(p["action"])} of {name(p["partition"] or p["table"])}',
            f'{decimal(p["percent"])} %' if p["percent"] is not None else "",
            count(p["rows"]),
            moment(p["started_at"]),
        ]
        for p in report["progress"]
    ]
    return (
        '<h2>At work just now</h2><div class="card">'
        + rows([("what", "name"), ("done", "n"), ("rows", "n"), ("since", "n")], lines)
        + "</div>"
    )


def span_of(pair, form):
    """A range."""
    return "–" if pair is None else f"{form(pair[0])} to {form(pair[1])}"


def promised(report):
    """The estimates of scripts/compare beside what came true."""
    found = report.get("promised")
    if found is None:
        return ""
    heads = (
        ("values a second", "n"),
        ("now", "n"),
        ("bytes a packed value", "n"),
        ("really", "n"),
        ("disk at retention, plain", "n"),
        ("promised", "n"),
        ("as it grows now", "n"),
    )
    lines = [
        [
            name(short(t["table"])),
            decimal(t["values_per_second"]),
            decimal(t["values_per_second_now"]),
            span_of(t["bytes_per_value"], decimal),
            decimal(t["bytes_per_value_now"]),
            size(t["bytes_plain"]),
            span_of(t["bytes"], size),
            size(t["bytes_at_end"]),
        ]
        for t in found["tables"]
    ]
    return (
        f'<h2 id="promised">Promised on {day(found["time"])}, and real</h2><div class="card">'
        + rows([("table", "name"), *heads], lines)
        + "</div>"
    )


# ---- a table ----


def waiting(table):
    """The number of rows in the table itself."""
    about = "" if table["rows_waiting_exact"] else "about "
    return f'{about}{count(table["rows_waiting"])} waiting'


def legend(table):
    """The legend of the timeline, and what belongs to no day."""
    return (
        '<div class="legend"><span><i class="packed"></i>packed</span>'
        '<span><i class="heap"></i>heap (not packed)</span>'
        f'<span><i class="parent"></i>rows in the table itself: {waiting(table)}, '
        f'{size(table["parent_bytes"])}</span></div>'
    )


def policy(table):
    """The policy in a sentence."""
    months = table["months"]
    length = span(table["interval"])
    if months:
        length = "1 month" if months == 1 else f"{months} months"
    parts = [f"partitions of {length}"]
    if table["retention"]:
        source = (table["retention_source"] or "").split(":")[0]
        taken_off = ""
        if table.get("detach"):
            taken_off = (
                f', then detached into {escape(table["retention_schema"] or "its own schema")}'
            )
        parts.append(f'kept for {span(table["retention"])} ({escape(source)}){taken_off}')
    else:
        parts.append("kept for ever")
    if table["pack_after"] is None:
        parts.append("never packed")
    else:
        parts.append(f'packed {span(table["pack_after"])} after their end')
    if table.get("time_precision"):
        parts.append(
            f'times rounded to {escape(table["time_precision"])} '
            f'after {span(table["time_precision_after"])}'
        )
    return "; ".join(parts)


def outlook(table, now):
    """Growth and forecast in words."""
    plan = table["forecast"]
    if not plan["points"]:
        return '<p class="soft">No day is over yet, so nothing can be foretold.</p>'
    form = "packed" if plan["is_packed"] else "as it is stored now"
    text = (
        f'<p>{count(plan["values_per_day"])} values a day, {size(plan["bytes_per_day"])} {form}. '
    )
    if plan["ends_at"] is None:
        text += "Nothing is ever dropped, so it grows for ever: set a retention.</p>"
    else:
        text += (
            f'With the retention that is set it is <b>{size(plan["bytes_at_end"])}</b> '
            f'on {day(plan["ends_at"])}'
            f'{", at the most " + size(plan["most_bytes"]) + " before" if plan["most_bytes"] > plan["bytes_at_end"] * 1.02 else ""}'
            f", if as much comes as in the last days.</p>"
        )
    return text + charts.forecast(plan["points"], table["bytes"])


def facts(table):
    """The parts of a table."""
    days = table["days"]
    heap = sum(d["heap_bytes"] for d in days)
    packed = sum(d["packed_bytes"] for d in days)
    lines = [
        ["packed days", size(packed), f'{count(table["packed_days"])} tables'],
        ["partitions", size(heap), f'{count(table["partitions"])} tables'],
        ["the table itself", size(table["parent_bytes"]), f"{waiting(table)}"],
    ]
    archived = sum(d["archived_bytes"] for d in days)
    if archived:
        values = sum(d["archived_values"] for d in days)
        lines.append(["on archive servers", size(archived), f"{count(values)} values"])
    table_html = rows([("stored as", "name"), ("disk", "n"), ("", "n")], lines)
    extra = f'<p class="soft">Partitions reach to {moment(table["covered_until"])}'
    if table["next_drop"]:
        extra += f'; the next is dropped {moment(table["next_drop"])}'
    extra += ".</p>"
    if table["is_undone"]:
        extra += '<p class="warning">Is being undone: no new value leaves the table itself.</p>'
    if table["last_error"]:
        extra += (
            f'<p class="error">{moment(table["last_error_at"])}: {escape(table["last_error"])}</p>'
        )
    return table_html + extra


def item_label(item):
    """An item's names, or its number."""
    if item["item"] is None:
        return f'item {item["itemid"]} <span class="soft">(no name)</span>'
    return f'{name(item["item"])}<br><code>{name(item["item_key"])}</code>'


def usage(report, table):
    """The items and hosts that take the disk."""
    found = table["usage"]
    problem = report["unreadable"].get(f"items of {table['table']}")
    if problem is not None:
        return f'<h3>Items</h3><p class="soft">Cannot be read: {escape(problem)}</p>'
    if not found or not found["items"]:
        return ""
    days = report["usage_days"]
    most = max(1, found["items"][0]["bytes"])
    when = f"of the last {days} days" if days else "of all time"
    items = rows(
        [
            ("item", "name"),
            ("host", "text"),
            ("disk", "n"),
            ("%", "n"),
            ("values", "n"),
            ("bytes a value", "n"),
        ],
        [
            [
                item_label(i) + f'<i class="bar" style="width:{100 * i["bytes"] / most:.1f}%"></i>',
                name(i["host"]) if i["host"] is not None else "",
                size(i["bytes"]),
                decimal(i["percent"]),
                count(i["values"]),
                decimal(i["bytes_per_value"]),
            ]
            for i in found["items"]
        ],
    )
    html = (
        f"<h3>Items that take most, {when}</h3>"
        f'<p class="soft">{count(found["total_items"])} items, {count(found["total_values"])} values, '
        f'{size(found["total_bytes"])}</p>{items}'
    )
    if found["hosts"]:
        html += "<h3>Hosts that take most</h3>" + rows(
            [("host", "name"), ("disk", "n"), ("%", "n"), ("items", "n"), ("values", "n")],
            [
                [
                    name(h["host"]),
                    size(h["bytes"]),
                    decimal(h["percent"]),
                    count(h["items"]),
                    count(h["values"]),
                ]
                for h in found["hosts"]
            ],
        )
    return html


def table_section(report, number, table):
    """The section of a table."""
    days = [d for d in table["days"] if d["bytes"] > 0]
    sizes = charts.value_sizes(days)
    return (
        f'<h2 id="{anchor(number)}">{name(short(table["table"]))} · {size(table["bytes"])}</h2>'
        f'<div class="card"><p class="soft">{policy(table)}</p>'
        f"<h3>Disk by day</h3>{charts.timeline(days)}{legend(table)}"
        + (f"<h3>Bytes a value by day</h3>{sizes}" if sizes else "")
        + f'<div class="two"><div><h3>Forecast</h3>{outlook(table, report["server"]["time"])}</div>'
        f"<div><h3>Where it is</h3>{facts(table)}</div></div>"
        f"{usage(report, table)}</div>"
    )


# ---- the rest ----


def maintenance(report):
    """What maintenance did in the last 30 days."""
    log = report["maintenance"]
    if log is None:
        body = unless_unreadable(report, "maintenance", "")
    elif not log["actions"]:
        body = '<p class="soft">Nothing in the log.</p>'
    else:
        body = charts.durations(log["days"]) + rows(
            [
                ("step", "name"),
                ("times", "n"),
                ("in vain", "n"),
                ("in all", "n"),
                ("longest", "n"),
                ("longest lock wait", "n"),
                ("rows", "n"),
                ("disk freed", "n"),
            ],
            [
                [
                    escape(a["action"]),
                    count(a["times"]),
                    count(a["failed"]) if a["failed"] else "",
                    span(a["seconds"]),
                    span(a["longest"]),
                    span(a["longest_lock_wait"]) if a["longest_lock_wait"] else "",
                    count(a["rows"]) if a["rows"] else "",
                    size(a["bytes_freed"]) if a["bytes_freed"] else "",
                ]
                for a in log["actions"]
            ],
        )
        if log["problems"]:
            body += "<h3>What went wrong</h3>" + rows(
                [("what", "name"), ("step", ""), ("table", "text"), ("times", "n"), ("last", "n")],
                [
                    [
                        f'{escape(p["message"])} <span class="soft">({escape(p["sqlstate"])})</span>',
                        escape(p["action"]),
                        name(p["table"]),
                        count(p["times"]),
                        moment(p["last"]),
                    ]
                    for p in log["problems"]
                ],
            )
    return f'<h2 id="maintenance">Maintenance, last 30 days</h2><div class="card">{body}</div>'


def lost_values(report):
    """Values that salvage could not read."""
    if not report["damage"]["lost"]:
        return unless_unreadable(
            report, "lost values", '<p class="ok">No value was lost to damage.</p>'
        )
    return "<h3>Lost when days were salvaged</h3>" + rows(
        [("day", "name"), ("table", "text"), ("ranges", "n"), ("values", "n"), ("when", "n")],
        [
            [
                f'{escape(x["day"])}<br><span class="soft">{escape(x["problem"])}</span>',
                name(x["table"]),
                count(x["ranges"]),
                count(x["values"]),
                moment(x["salvaged_at"]),
            ]
            for x in report["damage"]["lost"]
        ],
    )


def met_damage(report):
    """Damage that maintenance has found."""
    if not report["damage"]["met"]:
        return unless_unreadable(
            report, "damage", '<p class="ok">Maintenance has met no damage.</p>'
        )
    return "<h3>Damage that maintenance has met</h3>" + rows(
        [("what", "name"), ("of", "text"), ("step", ""), ("last", "n")],
        [
            [
                f'{escape(x["message"])}<code class="command">'
                f"SELECT * FROM zbxhist.verify({escape(literal(x['table']))});</code>",
                name(x["relation"] or x["table"]),
                escape(x["action"]),
                moment(x["last"]),
            ]
            for x in report["damage"]["met"]
        ],
    )


def literal(text):
    """Quotes an SQL literal."""
    return "'" + (text or "").replace("'", "''") + "'"


def verified(report):
    """The result of checking all packed days."""
    found = report["damage"]["verified"]
    if found is None:
        return (
            '<p class="soft">Packed days have not been looked through for this report '
            "(<code>scripts/report --verify</code>).</p>"
        )
    problems = [s for s in report["unreadable"] if s.startswith("verify ")]
    html = "".join(
        f'<p class="error">{escape(s)}: {escape(report["unreadable"][s])}</p>' for s in problems
    )
    if not found:
        return html or '<p class="ok">All packed days were looked through: no damage.</p>'
    return (
        html
        + "<h3>Found by verify()</h3>"
        + rows(
            [("problem", "name"), ("day", "text"), ("item", "n"), ("clock", "n")],
            [
                [escape(x["problem"]), name(x["day"]), str(x["itemid"]), str(x["clock"])]
                for x in found[:200]
            ],
        )
    )


def damage(report):
    """All known damage."""
    return (
        '<h2 id="damage">Damage</h2><div class="card">'
        f"{met_damage(report)}{lost_values(report)}{verified(report)}</div>"
    )


def settings(report):
    """The important settings."""
    lines = [
        [
            f'<code>{escape(s["name"])}</code>',
            f'<code>{escape(s["value"])}</code>',
            "" if s["is_default"] else escape(s["source"]),
        ]
        for s in report["settings"]
    ]
    body = rows([("setting", "name"), ("value", "text"), ("set by", "")], lines)
    return (
        '<h2 id="settings">Settings</h2><div class="card">'
        f'{unless_unreadable(report, "settings", body)}</div>'
    )


def footer(report):
    """The parts that are missing, and why."""
    missing = "".join(
        f"<p>Left out: {escape(section)}: {escape(problem)}</p>"
        for section, problem in report["unreadable"].items()
    )
    return (
        f"<footer>{missing}<p>Times are UTC. Days are UTC days. Sizes are what is on the disk, with indexes; "
        "the rows of partitions are PostgreSQL’s estimates.</p></footer>"
    )


def render(report):
    """Returns the page."""
    tables = "".join(table_section(report, i, t) for i, t in enumerate(report["tables"]))
    if not report["tables"]:
        tables = (
            '<h2>Tables</h2><div class="card"><p>No table is managed.</p>'
            '<code class="command">SELECT * FROM zbxhist.setup();</code></div>'
        )
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">"
        f'<title>{escape(report["server"]["database"])}: zbxhist {day(report["server"]["time"])}</title>'
        f"<style>{CSS}</style></head><body><main>"
        f"{header(report)}{tiles(report)}{check(report)}{progress(report)}{promised(report)}{tables}"
        f"{maintenance(report)}{damage(report)}{settings(report)}{footer(report)}"
        "</main></body></html>\n"
    )
