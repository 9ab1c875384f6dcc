"""What a store holds, in a form that can be compared with the others."""

from . import drivers


class Contents:
    """Rows and checksum of a table.

    PostgreSQL's stores compute the checksum themselves; as soon as another
    one takes part, all are read back by one client.
    """

    def __init__(self, stores):
        self.by_server = all(store.is_postgres for store in stores)

    def of(self, store, table):
        """(rows, checksum), equal when the rows are."""
        if self.by_server:
            return store.rows(table), str(store.checksum(table))
        found = drivers.read_back(store, table)
        return found["rows"], str(found["checksum"])
