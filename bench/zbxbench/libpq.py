"""Calls libpq, which Zabbix's server and PHP use.

psycopg2 makes Python objects of a result before it returns it, which costs more than the server's
work.  Here a result stays as libpq has received it until somebody reads its rows.
"""

import ctypes
import ctypes.util

CONNECTION_OK = 0
COMMAND_OK, TUPLES_OK = 1, 2


def _load():
    """Loads the library and declares its functions."""
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
    """An error of the server or the library."""


class Result:
    """The rows of a statement as texts; None is null."""

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
    """A connection; every statement is sent by the simple protocol."""

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
        """The backend's process id."""
        return PQ.PQbackendPID(self.handle)

    def execute(self, text):
        """Sends a statement and waits for the whole answer; other threads run meanwhile."""
        result = Result(PQ.PQexec(self.handle, text.encode()))
        if PQ.PQresultStatus(result.handle) not in (COMMAND_OK, TUPLES_OK):
            raise Error("%s\n%s" % (self._message(), text[:500]))
        return result

    def close(self):
        """Disconnects."""
        PQ.PQfinish(self.handle)
