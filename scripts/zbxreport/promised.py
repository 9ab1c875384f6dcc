"""Compares the estimates of scripts/compare from before the set-up with what came true."""

import json

from .collect import ReportError

# version of the JSON document of scripts/compare
FORMAT = 1


def read(path):
    """Reads the estimates; None if no file is given."""
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if document["format"] != FORMAT or not isinstance(document["tables"], list):
            raise ValueError
        for table in document["tables"]:
            promise_of(table)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ReportError(
            f"{path} is not what scripts/compare --output writes",
            "scripts/compare --database NAME --output FILE, before the set-up",
        ) from None
    return document


def promise_of(table):
    """The estimates of a table."""
    sample = table["sample"]
    return {
        "name": str(table["table"]),
        "values_per_second": number(table["values_per_second_expected"]),
        "kept": number(table["kept"]),
        "bytes_plain": number(table["disk"]["plain"]),
        "bytes_per_value_before": number(table["bytes_per_value"]),
        "bytes_per_value": pair(sample and sample["bytes_per_value"]),
        "bytes": pair(table["disk"]["zbxhist"]),
    }


def number(value):
    """Returns a number, or None."""
    return None if value is None else float(value)


def pair(value):
    """Returns a range, or None."""
    return None if value is None else [float(value[0]), float(value[1])]


def at_retention(promise, retention):
    """The estimated disk, converted to the present retention."""
    factor = retention / promise["kept"] if retention and promise["kept"] else 1
    promised = promise["bytes"] and [size * factor for size in promise["bytes"]]
    return {"bytes_plain": promise["bytes_plain"] * factor, "bytes": promised}


def beside(document, report):
    """Returns each table's estimates beside the present figures: the bytes of existing packed
    days, and the disk that the retention leads to."""
    lines = []
    for table in report["tables"]:
        name = table["table"].rpartition(".")[2].strip('"')
        promises = [p for p in map(promise_of, document["tables"]) if p["name"] == name]
        if not promises:
            continue
        packed = sum(d["packed_bytes"] for d in table["days"])
        values = sum(d["packed_values"] for d in table["days"])
        lines.append(
            promises[0]
            | at_retention(promises[0], table["retention"])
            | {
                "table": table["table"],
                "values_per_second_now": table["forecast"]["values_per_second"],
                "bytes_per_value_now": round(packed / values, 2) if values else None,
                "bytes_now": table["bytes"],
                "bytes_at_end": table["forecast"]["bytes_at_end"],
            }
        )
    return {"time": int(document["time"]), "tables": lines}
