"""Writes the rows of a history or trends table as Parquet files, one per UTC day, for
scripts/export.

A file is written under a temporary name, read back, and compared with what is stored.  Then it
gets its name and is listed in manifest.json.  The next call leaves listed days as they are,
unless a day was not over when it was written.
"""

import argparse
import fcntl
import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path[0] = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)

from zbxexport import parquet, table  # noqa: E402
from zbxreport import collect  # noqa: E402

# version of the manifest; it changes only if names change or go
FORMAT = 1


def parse_arguments():
    """Parses the command line."""
    parser = argparse.ArgumentParser(prog="export")
    parser.add_argument("--database", required=True, metavar="NAME")
    parser.add_argument("--user", metavar="ROLE")
    parser.add_argument("--format", choices=["parquet"])
    parser.add_argument("--output", required=True, metavar="DIRECTORY")
    parser.add_argument("--from", dest="start", metavar="TIME")
    parser.add_argument("--to", dest="end", metavar="TIME")
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("table", metavar="TABLE")
    return parser.parse_args()


class Export:
    """The files of one table."""

    def __init__(self, arguments):
        self.table = table.Table(arguments.database, arguments.table)
        self.changed = arguments.changed
        self.start, self.end = self.table.range(arguments.start, arguments.end)
        self.writer = parquet.Writer(self.table, self.table.items() if arguments.names else None)
        self.directory = os.path.join(
            os.path.abspath(arguments.output), self.table.name.rsplit(".", 1)[-1].strip('"')
        )
        os.makedirs(self.directory, exist_ok=True)
        self.lock()
        self.manifest = self.read_manifest(
            {
                "format": FORMAT,
                "table": self.table.name,
                "columns": self.table.columns,
                "names": arguments.names,
            }
        )

    def path(self, name):
        """The path of a file in the directory."""
        return os.path.join(self.directory, name)

    def lock(self):
        """Locks the directory until the process ends, so that one export at a time writes."""
        self.locked = os.open(self.directory, os.O_RDONLY)
        try:
            fcntl.flock(self.locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise collect.ReportError(f"another export writes to {self.directory}") from None

    def read_manifest(self, wanted):
        """Reads the manifest; fails if it was written with other options."""
        if not os.path.exists(self.path("manifest.json")):
            return wanted | {"days": {}}
        with open(self.path("manifest.json"), encoding="utf-8") as file:
            found = json.load(file)
        for key, value in wanted.items():
            if found[key] != value:
                raise collect.ReportError(
                    f"{self.directory} has files of an export that differs in its {key}:"
                    " take another directory"
                )
        return found

    def write_manifest(self):
        """Writes the manifest."""
        with open(self.path("manifest.json.tmp"), "w", encoding="utf-8") as file:
            json.dump(self.manifest, file, indent=1)
        parquet.into_place(self.path("manifest.json.tmp"), self.path("manifest.json"))

    def is_done(self, name, start, end):
        """Is there a file with the day as it is now?"""
        entry = self.manifest["days"].get(name)
        if (
            entry is None
            or (entry["from"], entry["to"]) != (start, end)
            or entry["written_at"] < end
            or not os.path.exists(self.path(entry["file"]))
            or os.path.getsize(self.path(entry["file"])) != entry["bytes"]
        ):
            return False
        return not self.changed or self.table.sums(start, end) == entry["sums"]

    def write_day(self, name, start, end):
        """Writes a day, checks it, and lists it; returns its rows."""
        began = int(time.time())
        path = self.path(f"{name}.parquet")
        temporary = path + ".tmp"
        sums = self.writer.write(temporary, start, end)
        if int(sums["rows"]) == 0:
            return 0
        parquet.compare(path, sums, self.writer.sums_of_file(temporary))
        parquet.into_place(temporary, path)
        self.manifest["days"][name] = {
            "file": os.path.basename(path),
            "from": start,
            "to": end,
            "bytes": os.path.getsize(path),
            "written_at": began,
            "sums": sums,
        }
        self.write_manifest()
        return int(sums["rows"])

    def run(self):
        """Writes all missing days and prints the rows of each."""
        self.write_manifest()
        for day in self.table.days(self.start, self.end):
            name = time.strftime("%Y-%m-%d", time.gmtime(day * table.DAY))
            start, end = day * table.DAY, (day + 1) * table.DAY
            start = start if self.start is None else max(start, self.start)
            end = end if self.end is None else min(end, self.end)
            if self.is_done(name, start, end):
                print(f"{name}: is there")
            else:
                rows = self.write_day(name, start, end)
                print(f"{name}: {rows} rows", flush=True)


def main():
    """Runs the export; returns the exit code."""
    arguments = parse_arguments()
    if arguments.user:
        os.environ["PGUSER"] = arguments.user
    try:
        Export(arguments).run()
    except (collect.ReportError, OSError) as error:
        print(f"export: {error}", file=sys.stderr)
        if getattr(error, "hint", None):
            print(f"hint: {error.hint}", file=sys.stderr)
        return 1
    return 0


sys.exit(main())
