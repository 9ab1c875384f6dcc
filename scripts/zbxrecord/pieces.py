"""A recording: a directory of pieces, each of so many minutes, compressed when it is over.

The first line of a piece says what it is; each further line is a statement, or
the begin or end of a session:

    [time, session, state, microseconds, tags, rows, bytes, error, text]
    [time, session, state, microseconds, tags, rows, bytes, error, text, parameters]
    [time, session, "begin" or "end"]

time is microseconds since the recording began; state that of the transaction
before the statement: I (none), T (in one), E (failed).  tags are the server's,
one for each statement of a text; rows and bytes those of the answer.  error is
the SQLSTATE, or null.
"""

import glob
import json
import lzma
import os
import threading

FORMAT = "zbxhist recording 1"


class Writer:
    """Writes pieces."""

    def __init__(self, directory, header, seconds):
        self.directory = directory
        self.header = dict(header, format=FORMAT)
        self.piece_us = int(seconds * 1e6)
        self.number = 0
        self.file = None
        self.compressing = []
        os.makedirs(directory, exist_ok=True)
        if glob.glob(directory + "/piece-*"):
            raise FileExistsError("%s has a recording already" % directory)

    def write(self, line):
        """One line, in the piece that its time belongs to."""
        if self.file is None or line[0] >= self.number * self.piece_us:
            self._next()
        json.dump(line, self.file, ensure_ascii=False, separators=(",", ":"))
        self.file.write("\n")

    def _next(self):
        self._end()
        self.number += 1
        path = "%s/piece-%04d.jsonl" % (self.directory, self.number)
        # each line at once: a recorder that is killed has lost none
        self.file = open(path, "w", 1, encoding="utf-8")
        json.dump(dict(self.header, piece=self.number), self.file)
        self.file.write("\n")

    def _end(self):
        """Compresses the piece that is over; until that is done it stays as it is."""
        if self.file is not None:
            self.file.close()
            thread = threading.Thread(target=_compress, args=(self.file.name,))
            thread.start()
            self.compressing.append(thread)
            self.file = None

    def close(self):
        """The last piece is compressed when this returns."""
        self._end()
        for thread in self.compressing:
            thread.join()


def _compress(path):
    with open(path, "rb") as plain, lzma.open(path + ".xz.new", "wb", preset=6) as packed:
        for block in iter(lambda: plain.read(1 << 20), b""):
            packed.write(block)
    os.rename(path + ".xz.new", path + ".xz")
    os.unlink(path)


def _lines(path):
    opened = lzma.open if path.endswith(".xz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        for line in file:
            if not line.endswith("\n"):
                return  # the recorder was killed here
            yield json.loads(line)


def read(directory):
    """The header, and an iterator over all lines in their order."""
    paths = sorted(
        path for path in glob.glob(directory + "/piece-*.jsonl*") if not path.endswith(".new")
    )
    if not paths:
        raise FileNotFoundError("%s has no recording" % directory)
    header = next(_lines(paths[0]))
    if header.get("format") != FORMAT:
        raise ValueError("%s is not a recording of this version" % paths[0])

    def lines():
        for path in paths:
            rows = _lines(path)
            next(rows)
            yield from rows

    return header, lines()
