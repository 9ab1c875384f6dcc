"""Cassandra's native protocol, version 4, as far as the benchmark needs it.

Requests can be sent many at a time; their answers stay as they have come until
somebody looks at the rows, as with libpq.py.
"""

import socket
import struct

STARTUP, READY, QUERY, RESULT, PREPARE, EXECUTE = 0x01, 0x02, 0x07, 0x08, 0x09, 0x0A
CONSISTENCY_ONE = 1
KIND_ROWS = 2
FLAG_VALUES, FLAG_PAGING_STATE = 0x01, 0x08
GLOBAL_TABLE, MORE_PAGES = 0x01, 0x02

# how a column of a type is read
DECODERS = {
    0x01: lambda data: data.decode(),  # ascii
    0x02: lambda data: int.from_bytes(data, "big", signed=True),  # bigint
    0x07: lambda data: struct.unpack(">d", data)[0],  # double
    0x09: lambda data: int.from_bytes(data, "big", signed=True),  # int
    0x0D: lambda data: data.decode(),  # varchar
    0x0E: lambda data: int.from_bytes(data, "big", signed=True),  # varint
}


class Error(Exception):
    """What the server complained about."""


class _Frame:
    """An answer's body, read from its start to its end."""

    def __init__(self, body):
        self.body = body
        self.place = 0

    def take(self, count):
        """So many bytes."""
        self.place += count
        return self.body[self.place - count : self.place]

    def integer(self):
        """An [int]."""
        return struct.unpack(">i", self.take(4))[0]

    def short(self):
        """A [short]."""
        return struct.unpack(">H", self.take(2))[0]

    def string(self):
        """A [string]."""
        return self.take(self.short()).decode()

    def value(self):
        """[bytes]; None for null."""
        length = self.integer()
        return None if length < 0 else self.take(length)


class Page:
    """The rows of one answer, decoded when they are looked at."""

    def __init__(self, frame):
        flags, columns = frame.integer(), frame.integer()
        self.paging_state = frame.value() if flags & MORE_PAGES else None
        if flags & GLOBAL_TABLE:
            frame.string()
            frame.string()
        self.types = [self._type(frame) for _ in range(columns)]
        self.count = frame.integer()
        self.frame = frame
        self.decoded = None

    @staticmethod
    def _type(frame):
        frame.string()
        return frame.short()

    def _row(self):
        values = [self.frame.value() for _ in self.types]
        return tuple(
            None if data is None else DECODERS[kind](data) for kind, data in zip(self.types, values)
        )

    @property
    def rows(self):
        """The rows."""
        if self.decoded is None:
            self.decoded = [self._row() for _ in range(self.count)]
        return self.decoded


class Rows:
    """The rows of several pages, one after another."""

    def __init__(self, pages):
        self.pages = pages

    def __len__(self):
        return sum(page.count for page in self.pages)

    def __getitem__(self, place):
        for page in self.pages:
            if place < page.count:
                return page.rows[place]
            place -= page.count
        raise IndexError(place)


def _bytes(data):
    return struct.pack(">i", len(data)) + data


def integer(number):
    """A value for a column of type int."""
    return struct.pack(">ii", 4, number)


def bigint(number):
    """A value for a column of type bigint."""
    return struct.pack(">iq", 8, number)


def double(number):
    """A value for a column of type double."""
    return struct.pack(">id", 8, number)


class Connection:
    """A connection without authentication."""

    def __init__(self, host, port):
        self.socket = socket.create_connection((host, port), timeout=120)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb", 1 << 18)
        self.prepared = {}
        body = struct.pack(">H", 1) + self._string("CQL_VERSION") + self._string("3.0.0")
        self.socket.sendall(self._request(STARTUP, 0, body))
        if self._receive()[0] != READY:
            raise Error("the server wants more than STARTUP")

    @staticmethod
    def _string(text):
        return struct.pack(">H", len(text)) + text.encode()

    @staticmethod
    def _request(opcode, stream, body):
        return struct.pack(">BBHBi", 4, 0, stream, opcode, len(body)) + body

    def _receive(self):
        """The next answer: its opcode, its request's number, its body."""
        header = self.file.read(9)
        if len(header) < 9:
            raise Error("the server closed the connection")
        _, _, stream, opcode, length = struct.unpack(">BBHBi", header)
        frame = _Frame(self.file.read(length))
        if opcode == 0:
            raise Error("%#06x: %s" % (frame.integer(), frame.string()))
        return opcode, stream, frame

    def execute(self, text):
        """Runs a statement as text; returns all rows of its answer."""
        pages, state = [], None
        while True:
            flags = FLAG_PAGING_STATE if state else 0
            body = _bytes(text.encode()) + struct.pack(">HB", CONSISTENCY_ONE, flags)
            self.socket.sendall(self._request(QUERY, 0, body + (_bytes(state) if state else b"")))
            frame = self._receive()[2]
            if frame.integer() != KIND_ROWS:
                return Rows([])
            pages.append(Page(frame))
            state = pages[-1].paging_state
            if not state:
                return Rows(pages)

    def prepare(self, text):
        """The server's name for a statement, prepared once a connection."""
        if text not in self.prepared:
            self.socket.sendall(self._request(PREPARE, 0, _bytes(text.encode())))
            frame = self._receive()[2]
            frame.integer()
            self.prepared[text] = frame.take(frame.short())
        return self.prepared[text]

    def bind(self, text, number, values, state=None):
        """A request with values, each made by integer() and its like."""
        name = self.prepare(text)
        flags = FLAG_VALUES | (FLAG_PAGING_STATE if state else 0)
        body = (
            struct.pack(">H", len(name))
            + name
            + struct.pack(">HBH", CONSISTENCY_ONE, flags, len(values))
            + b"".join(values)
        )
        return self._request(EXECUTE, number, body + (_bytes(state) if state else b""))

    def execute_many(self, text, all_values):
        """Runs a statement with each of the values, all at the same time; a Rows for each."""
        if not all_values:
            return []
        pages = [[] for _ in all_values]
        self.socket.sendall(
            b"".join(self.bind(text, number, values) for number, values in enumerate(all_values))
        )
        waiting = len(all_values)
        while waiting:
            _, number, frame = self._receive()
            waiting -= 1
            if frame.integer() != KIND_ROWS:
                continue
            pages[number].append(Page(frame))
            state = pages[number][-1].paging_state
            if state:
                self.socket.sendall(self.bind(text, number, all_values[number], state))
                waiting += 1
        return [Rows(found) for found in pages]

    def close(self):
        """Disconnects."""
        self.file.close()
        self.socket.close()
