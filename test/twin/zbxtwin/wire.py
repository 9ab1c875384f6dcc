"""The part of PostgreSQL's protocol that the twin needs.

Rows stay the received bytes.  Many statements may be on their way at once, on several
connections: pump() writes and reads whatever is ready.
"""

import re
import select
import socket
import struct

MINUS_ZERO = re.compile(rb"(?<![\d.eE])-0(?![\d.])")


class Answer:
    """The answer to a statement: columns, rows, command tag, SQLSTATE, transaction state."""

    __slots__ = ("columns", "rows", "tag", "error", "message", "status")

    def __init__(self):
        self.columns, self.rows, self.tag = (), [], None
        self.error = self.message = self.status = None

    def fields(self, row):
        """The fields of a row as text; None is null."""
        found, place = [], 2
        for _ in range(struct.unpack_from("!h", row)[0]):
            (length,) = struct.unpack_from("!i", row, place)
            place += 4
            if length < 0:
                found.append(None)
            else:
                found.append(row[place : place + length])
                place += length
        return found

    def texts(self):
        """All rows, as lists of texts."""
        return [
            [None if f is None else f.decode(errors="replace") for f in self.fields(row)]
            for row in self.rows
        ]

    def describe(self, most=12):
        """Describes the answer."""
        if self.error:
            return f"{self.error} {self.message}"
        lines = [f"{self.tag}, {len(self.rows)} rows of {', '.join(map(str, self.columns))}"]
        lines += ["  " + " | ".join(str(f) for f in row)[:300] for row in self.texts()[:most]]
        return "\n".join(lines)


def message(kind, contents):
    """A message of the protocol."""
    return kind + struct.pack("!I", len(contents) + 4) + contents


class Connection:
    """A connection by a Unix socket, with trust authentication."""

    def __init__(self, directory, port, user, database):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(f"{directory}/.s.PGSQL.{port}")
        self.socket.setblocking(False)
        self.unsent, self.received = bytearray(), bytearray()
        self.waiting, self.answers, self.current = 1, [], Answer()
        self.status, self.pid = "I", None
        options = f"user\0{user}\0database\0{database}\0\0".encode()
        self.unsent += struct.pack("!II", len(options) + 8, 196608) + options
        pump([self])
        started = self.take()[0]
        if started.error:
            raise ConnectionError(started.message)

    def send(self, sql, parameters=None, name="", is_known=False):
        """Sends a statement; with parameters by the extended protocol."""
        if parameters is None:
            self.unsent += message(b"Q", sql.encode() + b"\0")
        else:
            title = name.encode() + b"\0"
            bound = b"\0" + title + struct.pack("!hh", 0, len(parameters))
            for value in parameters:
                if value is None:
                    bound += struct.pack("!i", -1)
                else:
                    text = str(value).encode()
                    bound += struct.pack("!i", len(text)) + text
            if not is_known:
                self.unsent += message(b"P", title + sql.encode() + b"\0\0\0")
            self.unsent += message(b"B", bound + b"\0\0") + message(b"D", b"P\0")
            self.unsent += message(b"E", b"\0\0\0\0\0") + message(b"S", b"")
        self.waiting += 1

    def copy(self, sql, data):
        """Sends COPY FROM STDIN with its data; a server that refuses the COPY ignores the
        data."""
        self.unsent += message(b"Q", sql.encode() + b"\0")
        self.unsent += message(b"d", data.encode()) + message(b"c", b"")
        self.waiting += 1

    def fileno(self):
        """For select()."""
        return self.socket.fileno()

    def write_some(self):
        """Writes what the socket accepts."""
        del self.unsent[: self.socket.send(self.unsent[:65536])]

    def read_some(self):
        """Reads what has arrived."""
        data = self.socket.recv(262144)
        if not data:
            raise ConnectionError("the server closed the connection")
        self.received += data
        self._parse()

    def _parse(self):
        buffer, place, end = bytes(self.received), 0, len(self.received)
        while end - place >= 5:
            size = int.from_bytes(buffer[place + 1 : place + 5], "big") + 1
            if end - place < size:
                break
            self._handle(buffer[place], buffer[place + 5 : place + size])
            place += size
        del self.received[:place]

    def _handle(self, kind, contents):
        current = self.current
        if kind == 68:  # D
            current.rows.append(contents)
        elif kind == 67:  # C
            current.tag = contents[:-1].decode()
        elif kind == 84:  # T
            current.columns = columns_of(contents)
        elif kind == 69:  # E
            fields = {f[:1]: f[1:].decode() for f in contents.split(b"\0") if f}
            current.error, current.message = fields[b"C"], fields[b"M"]
            if fields[b"S"] in ("FATAL", "PANIC"):
                raise ConnectionError(fields[b"M"])
        elif kind == 75:  # K
            (self.pid,) = struct.unpack_from("!I", contents)
        elif kind == 90:  # Z
            self.status = current.status = contents.decode()
            self.answers.append(current)
            self.current, self.waiting = Answer(), self.waiting - 1

    def take(self):
        """Takes the answers that have arrived."""
        answers, self.answers = self.answers, []
        return answers

    def execute(self, sql, parameters=None):
        """Sends a statement and waits for its answer."""
        self.send(sql, parameters)
        pump([self])
        return self.take()[-1]

    def close(self):
        """Disconnects."""
        try:
            self.socket.send(message(b"X", b""))
        except OSError:
            pass
        self.socket.close()


def columns_of(contents):
    """Name, type and type modifier of each column; types made by users count as one."""
    (number,), place, found = struct.unpack_from("!h", contents), 2, []
    for _ in range(number):
        end = contents.index(b"\0", place)
        name = contents[place:end].decode()
        kind, _, modifier = struct.unpack_from("!IhI", contents, end + 7)
        found.append((name, min(kind, 16384), modifier))
        place = end + 19
    return tuple(found)


def pump(connections, seconds=600):
    """Writes and reads until every connection has all its answers."""
    while True:
        busy = [c for c in connections if c.waiting]
        if not busy:
            return
        readable, writable, _ = select.select(busy, [c for c in busy if c.unsent], [], seconds)
        if not readable and not writable:
            raise TimeoutError(f"no answer within {seconds} s")
        for connection in writable:
            connection.write_some()
        for connection in readable:
            connection.read_some()
