"""Calls MariaDB's C client, which Zabbix's server and PHP use; the counterpart of libpq.py."""

import ctypes
import ctypes.util


def _load():
    """Loads the library and declares its functions; None if it is missing."""
    name = ctypes.util.find_library("mariadb")
    if not name:
        return None
    library = ctypes.CDLL(name)
    text, number, handle = ctypes.c_char_p, ctypes.c_uint, ctypes.c_void_p
    for name, result, arguments in (
        ("mysql_init", handle, [handle]),
        ("mysql_close", None, [handle]),
        (
            "mysql_real_connect",
            handle,
            [handle, text, text, text, text, number, text, ctypes.c_ulong],
        ),
        ("mysql_set_character_set", ctypes.c_int, [handle, text]),
        ("mysql_errno", number, [handle]),
        ("mysql_error", text, [handle]),
        ("mysql_real_query", ctypes.c_int, [handle, text, ctypes.c_ulong]),
        ("mysql_store_result", handle, [handle]),
        ("mysql_free_result", None, [handle]),
        ("mysql_num_rows", ctypes.c_ulonglong, [handle]),
        ("mysql_num_fields", number, [handle]),
        ("mysql_data_seek", None, [handle, ctypes.c_ulonglong]),
        ("mysql_fetch_row", ctypes.POINTER(ctypes.c_char_p), [handle]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


LIBRARY = _load()


class Error(Exception):
    """An error of the server or the library."""


class Result:
    """The rows of a statement as texts; None is null.  Empty if it returns no rows."""

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        if self.handle:
            LIBRARY.mysql_free_result(self.handle)

    def __len__(self):
        return LIBRARY.mysql_num_rows(self.handle) if self.handle else 0

    def __getitem__(self, row):
        if not 0 <= row < len(self):
            raise IndexError(row)
        LIBRARY.mysql_data_seek(self.handle, row)
        fields = LIBRARY.mysql_fetch_row(self.handle)
        return tuple(
            None if fields[column] is None else fields[column].decode()
            for column in range(LIBRARY.mysql_num_fields(self.handle))
        )


class Connection:
    """A connection by a socket, in autocommit mode."""

    def __init__(self, socket, user, database=""):
        self.thread = None
        self.handle = LIBRARY.mysql_init(None)
        if not LIBRARY.mysql_real_connect(
            self.handle, None, user.encode(), None, database.encode(), 0, str(socket).encode(), 0
        ):
            message = self._message()
            self.close()
            raise Error(message)
        LIBRARY.mysql_set_character_set(self.handle, b"utf8mb4")

    @property
    def pid(self):
        """The server's thread, whose CPU can be read like a process's."""
        if self.thread is None:
            self.thread = int(
                self.execute(
                    "SELECT tid FROM information_schema.processlist " "WHERE id = connection_id()"
                )[0][0]
            )
        return self.thread

    def _message(self):
        return LIBRARY.mysql_error(self.handle).decode(errors="replace").strip()

    def execute(self, text):
        """Sends a statement and waits for the whole answer; other threads run meanwhile."""
        query = text.encode()
        if LIBRARY.mysql_real_query(self.handle, query, len(query)) != 0:
            raise Error("%s\n%s" % (self._message(), text[:500]))
        result = Result(LIBRARY.mysql_store_result(self.handle))
        if LIBRARY.mysql_errno(self.handle) != 0:
            raise Error("%s\n%s" % (self._message(), text[:500]))
        return result

    def close(self):
        """Disconnects."""
        LIBRARY.mysql_close(self.handle)
