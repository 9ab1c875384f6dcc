"""libpq itself, as Zabbix's server and PHP use it.

psycopg2 makes Python objects of a result before it hands it out, which costs
more than the server's work.  Here a result stays as libpq has received it,
until somebody looks at its rows.
"""

import ctypes
import ctypes.util

CONNECTION_OK = 0
COMMAND_OK, TUPLES_OK = 1, 2


def _load():
    """The library with the types of what is used of it."""
    library = ctypes.CDLL(ctypes.util.find_library("pq") or "libpq.so.5")
    text, number, handle = ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p
    for name, result, arguments in (
        ("PQconnectdb", handle, [text]),
        ("PQfinish", None, [handle]),
        ("PQstatus", number, [handle]),
        ("PQerrorMessage", text, [handle]),
        ("PQbackendPID", number, [handle]),
        ("PQexec", handle, [handle, text]),
        ("PQresultStatus", number, [handle]),
        ("PQclear", None, [handle]),
        ("PQntuples", number, [handle]),
        ("PQnfields", number, [handle]),
        ("PQgetisnull", number, [handle, number, number]),
        ("PQgetvalue", text, [handle, number, number]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


PQ = _load()


class Error(Exception):
    """What the server or the library complained about."""


class Result:
    """A statement's rows, of texts; None is null."""

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        PQ.PQclear(self.handle)

    def __len__(self):
        return PQ.PQntuples(self.handle)

    def _field(self, row, column):
        if PQ.PQgetisnull(self.handle, row, column):
            return None
        return PQ.PQgetvalue(self.handle, row, column).decode()

    def __getitem__(self, row):
        if not 0 <= row < len(self):
            raise IndexError(row)
        return tuple(self._field(row, column) for column in range(PQ.PQnfields(self.handle)))


class Connection:
    """A connection; every statement is sent in the simple protocol."""

    def __init__(self, dsn):
        self.handle = PQ.PQconnectdb(dsn.encode())
        if PQ.PQstatus(self.handle) != CONNECTION_OK:
            message = self._message()
            self.close()
            raise Error(message)

    def _message(self):
        return PQ.PQerrorMessage(self.handle).decode(errors="replace").strip()

    @property
    def pid(self):
        """The backend's process."""
        return PQ.PQbackendPID(self.handle)

    def execute(self, text):
        """Sends a text, waits for all of the answer; other threads run meanwhile."""
        result = Result(PQ.PQexec(self.handle, text.encode()))
        if PQ.PQresultStatus(result.handle) not in (COMMAND_OK, TUPLES_OK):
            raise Error("%s\n%s" % (self._message(), text[:500]))
        return result

    def close(self):
        """Disconnects."""
        PQ.PQfinish(self.handle)
