"""A proxy between Zabbix and PostgreSQL that records what passes.

It forwards bytes as they come and parses them: PostgreSQL's protocol 3, simple and extended.  It
changes only one thing: it refuses encryption, because it could not read what is encrypted.
"""

import asyncio
import collections
import os
import struct
import time

SSL_REQUEST, GSS_REQUEST, CANCEL = 80877103, 80877104, 80877102
BLOCK = 1 << 16


class Messages:
    """Splits a stream into messages: (type, body)."""

    def __init__(self):
        self.buffer = bytearray()

    def feed(self, data):
        """Returns the messages that are complete now."""
        self.buffer += data
        place, size = 0, len(self.buffer)
        while size - place >= 5:
            length = struct.unpack_from("!I", self.buffer, place + 1)[0] + 1
            if size - place < length:
                break
            kind = chr(self.buffer[place])
            # rows are counted but not parsed
            body = b"" if kind in "Dd" else bytes(self.buffer[place + 5 : place + length])
            yield kind, body, length
            place += length
        del self.buffer[:place]


class Statement:
    """A statement that waits for its answer."""

    def __init__(self, began, state, text, parameters, is_simple):
        self.began, self.state, self.text = began, state, text
        self.parameters, self.is_simple = parameters, is_simple
        self.tags, self.rows, self.bytes, self.error = [], 0, 0, None


class Session:
    """The statements and answers of one connection."""

    def __init__(self, number, recorder):
        self.number, self.recorder = number, recorder
        self.state = "I"
        self.prepared, self.portals = {}, {}
        self.waiting = collections.deque()
        self.from_client, self.from_server = Messages(), Messages()

    def sent(self, data):
        """Parses what the client sends."""
        for kind, body, _ in self.from_client.feed(data):
            if kind == "Q":
                self._ask(_text(body[:-1]), None, True)
            elif kind == "P":
                name, query, _ = body.split(b"\0", 2)
                self.prepared[name] = _text(query)
            elif kind == "B":
                self._bind(body)
            elif kind == "E":
                text, parameters = self.portals.get(body.split(b"\0", 1)[0], ("", None))
                self._ask(text, parameters, False)

    def _bind(self, body):
        portal, name, rest = body.split(b"\0", 2)
        self.portals[portal] = (self.prepared.get(name, ""), _parameters(rest))

    def _ask(self, text, parameters, is_simple):
        self.waiting.append(Statement(self.recorder.now(), self.state, text, parameters, is_simple))

    def answered(self, data):
        """Parses what the server answers."""
        for kind, body, length in self.from_server.feed(data):
            if kind == "Z":
                self.state = body.decode()
                while self.waiting and self.waiting[0].is_simple:
                    self._write(self.waiting.popleft())
                    break
                if self.waiting and self.waiting[0].error:
                    # in the extended protocol, what follows an error is not executed
                    self.waiting.clear()
            elif self.waiting:
                self._note(self.waiting[0], kind, body, length)

    def _note(self, statement, kind, body, length):
        statement.bytes += length
        if kind == "D":
            statement.rows += 1
        elif kind in "CIs":
            statement.tags.append(body[:-1].decode() if kind == "C" else "")
        elif kind == "E":
            statement.error = _sqlstate(body)
        if kind in "CIsE" and not statement.is_simple:
            self._write(self.waiting.popleft())

    def _write(self, statement):
        took = self.recorder.now() - statement.began
        line = [statement.began, self.number, statement.state, took, statement.tags]
        line += [statement.rows, statement.bytes, statement.error]
        line.append(self.recorder.anonymizer.statement(statement.text))
        if statement.parameters:
            line.append([self.recorder.anonymizer.value(text) for text in statement.parameters])
        self.recorder.write(line)


def _text(data):
    return data.decode("utf-8", "replace")


def _parameters(data):
    """The parameters of a Bind message: texts, or hexadecimal digits of binary ones."""
    count = struct.unpack_from("!H", data)[0]
    formats = struct.unpack_from("!%dH" % count, data, 2)
    place = 2 + 2 * count
    number = struct.unpack_from("!H", data, place)[0]
    place += 2
    found = []
    for index in range(number):
        length = struct.unpack_from("!i", data, place)[0]
        place += 4
        if length < 0:
            found.append(None)
            continue
        value = data[place : place + length]
        place += length
        is_binary = count and formats[index if count > 1 else 0]
        found.append("\\x" + value.hex() if is_binary else _text(value))
    return found


def _sqlstate(body):
    for field in body.split(b"\0"):
        if field[:1] == b"C":
            return field[1:].decode()
    return "?????"


class Recorder:
    """All sessions of a recording."""

    def __init__(self, writer, anonymizer, connect, report):
        self.writer, self.anonymizer = writer, anonymizer
        self.connect, self.report = connect, report
        self.started = time.monotonic()
        self.sessions = self.statements = 0

    def now(self):
        """Microseconds since the recording began."""
        return int((time.monotonic() - self.started) * 1e6)

    def write(self, line):
        """Writes one line of the recording, in the order in which statements end."""
        self.writer.write(line)
        self.statements += len(line) > 3

    async def serve(self, reader, writer):
        """Serves one client until it disconnects."""
        upstream = None
        try:
            startup = await self._startup(reader, writer)
            if startup is None:
                return
            upstream = await self.connect()
            upstream[1].write(startup)
            if struct.unpack_from("!I", startup, 4)[0] == CANCEL:
                await upstream[1].drain()
                return
            await self._session(reader, writer, *upstream)
        except (OSError, asyncio.IncompleteReadError) as error:
            self.report("a connection ended: %s" % error)
        finally:
            for end in [writer] + ([upstream[1]] if upstream else []):
                end.close()

    async def _startup(self, reader, writer):
        """Reads the client's first message."""
        while True:
            head = await reader.read(1)
            if not head:
                return None
            head += await reader.readexactly(7)
            length, code = struct.unpack("!II", head)
            if code not in (SSL_REQUEST, GSS_REQUEST):
                return head + await reader.readexactly(length - 8)
            writer.write(b"N")
            await writer.drain()

    async def _session(self, reader, writer, server_reader, server_writer):
        self.sessions += 1
        session = Session(self.sessions, self)
        self.write([self.now(), session.number, "begin"])
        up = asyncio.ensure_future(_forward(reader, server_writer, session.sent))
        down = asyncio.ensure_future(_forward(server_reader, writer, session.answered))
        try:
            await asyncio.wait([up, down], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in (up, down):
                end.cancel()
            try:
                await asyncio.gather(up, down, return_exceptions=True)
            finally:
                # also if the recording ends before the session
                self.write([self.now(), session.number, "end"])


async def _forward(reader, writer, look):
    """Forwards bytes from one side to the other.  It parses them before it forwards them, so
    that a statement's time begins before the server gets it."""
    while True:
        data = await reader.read(BLOCK)
        if not data:
            return
        look(data)
        writer.write(data)
        await writer.drain()


def address_of(text):
    """Parses a directory of sockets or a host, each optionally with a colon and a port, for
    asyncio."""
    place, _, port = text.rpartition(":")
    if not place:
        place, port = text, "5432"
    if place.startswith("/"):
        return {"path": "%s/.s.PGSQL.%s" % (place, port)}
    return {"host": place, "port": int(port)}


async def connect_to(address):
    """Opens a connection to the server."""
    if "path" in address:
        return await asyncio.open_unix_connection(address["path"])
    return await asyncio.open_connection(address["host"], address["port"])


async def listen_on(address, serve):
    """Opens the proxy's own socket.  In a directory everybody may use it, like PostgreSQL's."""
    if "path" not in address:
        return await asyncio.start_server(serve, address["host"], address["port"])
    server = await asyncio.start_unix_server(serve, address["path"])
    os.chmod(address["path"], 0o777)
    return server
