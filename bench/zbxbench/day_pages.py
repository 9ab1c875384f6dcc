"""Counts by table and index the pages that a checkpoint is going to write."""

import collections

from .cluster import SUPERUSER

# relations whose names differ only in digits (hours, packed days) count as one
DIRTY = """
SELECT CASE WHEN c.oid IS NULL THEN 'of no table'
            WHEN n.nspname IN ('pg_catalog', 'pg_toast') AND c.oid < 16384 THEN 'system catalogs'
            WHEN n.nspname = 'zbxhist' THEN 'tables of zbxhist'
            ELSE regexp_replace(c.relname, '[0-9]+', 'N', 'g') END
       || CASE b.relforknumber WHEN 1 THEN ', free space' WHEN 2 THEN ', visibility' ELSE '' END,
       count(*)
  FROM pg_buffercache b
  LEFT JOIN pg_class c ON b.relfilenode = pg_relation_filenode(c.oid)
                      AND b.reldatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
  LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE b.isdirty
 GROUP BY 1
"""


class DirtyPages:
    """Counts them by kind of relation, in a session of its own."""

    def __init__(self, store):
        store.execute("CREATE EXTENSION IF NOT EXISTS pg_buffercache", SUPERUSER)
        self.connection = store.cluster.connect(store.database)
        self.pages = collections.Counter()

    def count(self):
        """Call it before each checkpoint."""
        with self.connection.cursor() as cursor:
            cursor.execute(DIRTY)
            self.pages.update({kind: int(pages) for kind, pages in cursor.fetchall()})

    def forget(self):
        """The counts since the last call."""
        found = dict(self.pages.most_common())
        self.pages.clear()
        return found

    def close(self):
        """Disconnects."""
        self.connection.close()
