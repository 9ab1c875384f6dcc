"""Tables and plots of the day experiment."""

import collections

from . import plots, results
from .day_costs import POSTGRES_PAGE
from .stores import STORES

REFERENCE = "native"
FIRST_HOURS = 8

LARGEST = 12  # number of kinds of relations that are shown


def _sum(parts, key):
    """The sum of a counter over some parts; None if the server does not tell."""
    values = [part.get(key) for part in parts]
    return None if any(value is None for value in values) else sum(values)


def _per_value(parts, key, values):
    """The same per value."""
    total = _sum(parts, key)
    return None if total is None else total / values


def _spent(hours, tail, key):
    """Bytes per value: in the first and the last hour, in the first hours, and of
    everything."""
    early = hours[:FIRST_HOURS]
    values = _sum(hours, "values")
    return {
        "first": _per_value(hours[:1], key, hours[0]["values"]),
        "last": _per_value(hours[-1:], key, hours[-1]["values"]),
        "early": _per_value(early, key, _sum(early, "values")),
        "mean": _per_value(hours, key, values),
        "all": _per_value(hours + [tail], key, values),
    }


def _cpu(hours, tail):
    """Microseconds of CPU per value, of everything."""
    values = _sum(hours, "values")
    backends = _sum(hours, "backend_cpu")
    background = _sum(hours + [tail], "background_cpu") + tail["backend_cpu"]
    return {
        "backends": backends / values * 1e6,
        "background": background / values * 1e6,
        "together": (backends + background) / values * 1e6,
    }


def _summary(figures, hours):
    """The figures of a store, per value."""
    values = _sum(hours, "values")
    entry = {
        name: _spent(hours, figures["tail"], key)
        for name, key in (
            ("wal", "wal_bytes"),
            ("images", "image_bytes"),
            ("pages", "page_bytes"),
            ("io", "io_bytes"),
        )
    }
    entry["cpu"] = _cpu(hours, figures["tail"])
    entry["disk"] = {
        "before": figures["disk_bytes"] / values,
        "end": figures.get("midnight_disk_bytes", figures["disk_bytes"]) / values,
        "settled": figures["settled_disk_bytes"] / values,
    }
    entry["latency_ms"] = figures["latency_ms"]
    entry["waited_seconds"] = _sum(hours, "waited_seconds")
    entry["maintenance_seconds"] = _sum(hours + [figures["tail"]], "maintenance_seconds")
    entry["state"] = [figures["state"], figures["settled_state"]]
    return entry


def _ratio(value, reference):
    return value / reference if value is not None and reference else None


def _ratios(entry, reference):
    """A store's main figures as ratios to the reference."""
    return {
        "wal": _ratio(entry["wal"]["all"], reference["wal"]["all"]),
        "pages": _ratio(entry["pages"]["all"], reference["pages"]["all"]),
        "io": _ratio(entry["io"]["all"], reference["io"]["all"]),
        "disk": _ratio(entry["disk"]["end"], reference["disk"]["end"]),
        "cpu": _ratio(entry["cpu"]["together"], reference["cpu"]["together"]),
        "p99": _ratio(entry["latency_ms"]["p99"], reference["latency_ms"]["p99"]),
    }


def summarize(figures, hours):
    """Every store's figures, and their ratios to the reference of the same run."""
    summary = {
        name: _summary(entry, [hour for hour in hours if hour["store"] == name])
        for name, entry in figures.items()
    }
    for entry in summary.values():
        entry["ratios"] = _ratios(entry, summary[REFERENCE]) if REFERENCE in summary else {}
    return summary


def _label(result, name):
    return results.judged(STORES[name].label, name, result["problems"])


def _to_reference(entry, key):
    """A ratio in brackets, if there is one."""
    ratio = entry["ratios"].get(key)
    return "" if ratio is None else " (%.2f)" % ratio


def _written_table(result):
    rows = []
    for name, entry in result["summary"].items():
        wal, pages = entry["wal"], entry["pages"]
        rows.append(
            [_label(result, name)]
            + [results.number(wal[key]) for key in ("first", "last", "mean")]
            + [
                results.number(wal["all"]) + _to_reference(entry, "wal"),
                results.number(entry["images"]["all"]) if "images" in entry else "-",
            ]
            + [results.number(pages[key]) for key in ("early", "mean")]
            + [
                results.number(pages["all"]) + _to_reference(entry, "pages"),
                results.number(entry["io"]["all"]) + _to_reference(entry, "io"),
            ]
        )
    return results.table(
        [
            "store",
            "WAL: first hour",
            "last hour",
            "mean",
            "WAL, all",
            "images in it",
            "pages: first %d hours" % FIRST_HOURS,
            "mean",
            "pages, all",
            "kernel, all",
        ],
        rows,
    )


def _kept_table(result):
    rows = []
    for name, entry in result["summary"].items():
        cpu, latency = entry["cpu"], entry["latency_ms"]
        rows.append(
            [
                _label(result, name),
                results.number(entry["disk"].get("before", entry["disk"]["end"]), 1),
                results.number(entry["disk"]["end"], 1) + _to_reference(entry, "disk"),
                entry["state"][0] or "-",
                results.number(entry["disk"]["settled"], 1),
                entry["state"][1] or "-",
                results.number(cpu["backends"], 2),
                results.number(cpu["background"], 2),
                results.number(cpu["together"], 2) + _to_reference(entry, "cpu"),
                results.number(latency["p50"], 1),
                results.number(latency["p99"], 1) + _to_reference(entry, "p99"),
                results.number(latency["max"], 1),
            ]
        )
    return results.table(
        [
            "store",
            "disk B/value: before 24:00",
            "after its maintenance",
            "the day",
            "disk afterwards",
            "the day then",
            "CPU: backends",
            "others",
            "together",
            "INSERT p50 ms",
            "p99",
            "max",
        ],
        rows,
    )


def _dirty_table(result):
    """Prints what checkpoints wrote in the hours and after them, by kind of relation."""
    rows = []
    for entry in result["stores"]:
        hours = _of_store(result, entry["store"])
        found = collections.Counter()
        for part in hours + [entry["tail"]]:
            found.update(part.get("dirty_pages", {}))
        values = _sum(hours, "values")
        rows += [
            [STORES[entry["store"]].label, kind, results.number(pages * POSTGRES_PAGE / values, 1)]
            for kind, pages in found.most_common(LARGEST)
        ]
    return results.table(["store", "written by checkpoints", "bytes a value"], rows) if rows else ""


def show(result):
    """The tables of a result."""
    print(
        "\n%s items, %d hours, a checkpoint each %d minutes; in brackets to %s"
        % (
            results.number(result["items"]),
            result["hours"],
            result["checkpoint_minutes"],
            STORES[REFERENCE].label,
        )
    )
    print("\nBytes written a value; all: with what maintenance did after the last value")
    print(_written_table(result))
    print(
        "\nDisk at the day's end and when maintenance was through, microseconds of CPU a "
        "value, latency of 1000-row INSERTs"
    )
    print(_kept_table(result))
    dirty = _dirty_table(result)
    if dirty:
        print("\nWhat checkpoints wrote, by kind of relation")
        print(dirty)


def _of_store(result, name):
    return [hour for hour in result["runs"] if hour["store"] == name]


def _line(axes, result, name, key):
    """Plots a counter per value over the hours of the day."""
    hours = _of_store(result, name)
    if any(hour.get(key) is None for hour in hours):
        return
    axes.plot(
        [hour["hour"] + 1 for hour in hours],
        [hour[key] / hour["values"] for hour in hours],
        marker="o",
        markersize=2.5,
        color=plots.colour(name),
        label=STORES[name].label,
    )


def _draw_written(result, stem):
    """Plots WAL and pages per value, and the disk, over the hours."""
    fig, (wal, pages, disk) = plots.panels(3, 8.5, 2.4)
    for name in result["summary"]:
        _line(wal, result, name, "wal_bytes")
        _line(pages, result, name, "page_bytes")
    for entry in result["stores"]:
        disk.plot(
            [point[0] for point in entry["disk"]],
            [point[1] / 2**20 for point in entry["disk"]],
            color=plots.colour(entry["store"]),
            label=STORES[entry["store"]].label,
        )
    wal.set_ylabel("bytes of WAL\na value")
    pages.set_ylabel("bytes of pages\nwritten a value")
    disk.set_ylabel("on disk, MB")
    disk.set_xlabel("hours of the day")
    for axes in (wal, pages, disk):
        axes.set_ylim(bottom=0)
    wal.set_title(
        "A day of %s items with a value a minute, a checkpoint each %d minutes"
        % (results.number(result["items"]), result["checkpoint_minutes"]),
        fontsize=10,
    )
    plots.legend_beside(wal)
    plots.save(fig, stem)


def _draw_time(result, stem):
    """Plots CPU per value, and the latency of INSERTs, over the hours."""
    fig, (backends, others, latency) = plots.panels(3, 8.5, 2.4)
    for name in result["summary"]:
        hours = _of_store(result, name)
        clock = [hour["hour"] + 1 for hour in hours]
        style = {
            "marker": "o",
            "markersize": 2.5,
            "color": plots.colour(name),
            "label": STORES[name].label,
        }
        for axes, key in ((backends, "backend_cpu"), (others, "background_cpu")):
            axes.plot(clock, [hour[key] / hour["values"] * 1e6 for hour in hours], **style)
        latency.plot(clock, [hour["latency_ms"]["p99"] for hour in hours], **style)
    backends.set_ylabel("CPU of backends,\nµs a value")
    others.set_ylabel("of all others,\nµs a value")
    latency.set_ylabel("p99 of a 1000-row\nINSERT, ms")
    latency.set_xlabel("hours of the day")
    for axes in (backends, others, latency):
        axes.set_ylim(bottom=0)
    backends.set_title("What a value takes on that day", fontsize=10)
    plots.legend_beside(backends)
    plots.save(fig, stem)


def draw(result, stem):
    """All plots of the experiment."""
    _draw_written(result, stem)
    _draw_time(result, stem + "-time")
