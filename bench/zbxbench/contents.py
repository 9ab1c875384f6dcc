"""Counts and checksums the rows of stores, to compare them."""

from . import drivers


class Contents:
    """Rows and checksum of a table.

    PostgreSQL's stores compute the checksum themselves.  If another database takes part, one
    client reads the rows of all stores.
    """

    def __init__(self, stores):
        self.by_server = all(store.is_postgres for store in stores)

    def of(self, store, table):
        """(rows, checksum), which are equal if the rows are."""
        if self.by_server:
            return store.rows(table), str(store.checksum(table))
        found = drivers.read_back(store, table)
        return found["rows"], str(found["checksum"])
