"""A recording: a directory of pieces of some minutes each, compressed when they are over.

The first line of a piece describes it.  Each other line is a statement, or the begin or end of
a session:

    [time, session, state, microseconds, tags, rows, bytes, error, text]
    [time, session, state, microseconds, tags, rows, bytes, error, text, parameters]
    [time, session, "begin" or "end"]

time is in microseconds since this recording began; the first line of the piece says which one it
belongs to, as a recording can be continued (--append).  Readers see the parts as one recording
with continuous times and session numbers.  state is that of the transaction before the
statement: I (none), T (in one), E (failed).  tags are the server's command tags, one for each
statement of a text; rows and bytes are those of the answer.  error is the SQLSTATE, or null.
"""

import glob
import json
import lzma
import os
import threading

FORMAT = "zbxhist recording 1"
# a pause longer than this, in seconds, means that the recording was continued later
GAP = 300
# "extreme" makes pieces a twentieth smaller and takes no more memory
PRESET = 6 | lzma.PRESET_EXTREME


class Writer:
    """Writes pieces, after existing ones if that was asked for."""

    def __init__(self, directory, header, seconds, append=False):
        self.directory = directory
        self.header = dict(header, format=FORMAT)
        self.piece_us = int(seconds * 1e6)
        self.before = self.number = 0
        self.file = None
        self.compressing = []
        os.makedirs(directory, exist_ok=True)
        pieces = _paths(directory)
        if pieces and not append:
            raise FileExistsError("%s has a recording already" % directory)
        if pieces:
            last = next(_lines(pieces[-1]))
            if last["began"] >= header["began"]:
                raise ValueError("%s is younger than what would follow it" % pieces[-1])
            self.before = self.number = last["piece"]

    def write(self, line):
        """Writes one line into the piece of its time."""
        if self.file is None or line[0] >= (self.number - self.before) * self.piece_us:
            self._next()
        json.dump(line, self.file, ensure_ascii=False, separators=(",", ":"))
        self.file.write("\n")

    def _next(self):
        self._end()
        self.number += 1
        path = "%s/piece-%04d.jsonl" % (self.directory, self.number)
        # each line at once, so that a killed recorder loses none
        self.file = open(path, "w", 1, encoding="utf-8")
        json.dump(dict(self.header, piece=self.number), self.file)
        self.file.write("\n")

    def _end(self):
        """Compresses the piece that is over.  Until that is done, the plain file stays."""
        if self.file is not None:
            self.file.close()
            thread = threading.Thread(target=_compress, args=(self.file.name,))
            thread.start()
            self.compressing.append(thread)
            self.file = None

    def close(self):
        """Returns when the last piece is compressed."""
        self._end()
        for thread in self.compressing:
            thread.join()


def _compress(path):
    with open(path, "rb") as plain, lzma.open(path + ".xz.new", "wb", preset=PRESET) as packed:
        for block in iter(lambda: plain.read(1 << 20), b""):
            packed.write(block)
    os.rename(path + ".xz.new", path + ".xz")
    os.unlink(path)


def _paths(directory):
    """Returns the pieces in order, each once.  A killed recorder may leave a partly compressed
    piece, or a plain one beside its compressed one; both are left out."""
    paths = set(glob.glob(directory + "/piece-*.jsonl")) | set(
        glob.glob(directory + "/piece-*.jsonl.xz")
    )
    return sorted(path for path in paths if path + ".xz" not in paths)


def _lines(path):
    opened = lzma.open if path.endswith(".xz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        for line in file:
            if not line.endswith("\n"):
                return  # the recorder was killed while it wrote this line
            yield json.loads(line)


def read(directory):
    """Returns the header and an iterator over all lines in order."""
    paths = _paths(directory)
    if not paths:
        raise FileNotFoundError("%s has no recording" % directory)
    header = next(_lines(paths[0]))
    if header.get("format") != FORMAT:
        raise ValueError("%s is not a recording of this version" % paths[0])
    return header, _all_lines(header["began"], paths)


def _all_lines(first, paths):
    """Yields the lines of all pieces, with times since the first began and distinct session
    numbers."""
    began, sessions, most = first, 0, 0
    for path in paths:
        rows = _lines(path)
        own = next(rows)["began"]
        if own != began:
            began, sessions = own, most
        for line in rows:
            line[0] += (began - first) * 1000000
            line[1] += sessions
            most = max(most, line[1])
            yield line
