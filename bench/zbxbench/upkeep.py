"""The daily work of each store's administrator: a new partition, and an old one dropped."""

import time

from . import periods


class Upkeep:
    """Nothing to do: old rows must be deleted."""

    drops_days = False

    def __init__(self, store, table="history"):
        self.store = store
        self.table = table

    def add(self, day):
        """Creates the partition of a new day."""

    def drop(self, day):
        """Removes an expired day; returns when it is gone."""

    def maintain(self):
        """What else is called regularly."""

    def has_table(self, name):
        """Does a table still exist?"""
        return self.store.execute("SELECT to_regclass('public.%s') IS NOT NULL" % name)[0][0]


class ZbxhistUpkeep(Upkeep):
    """CALL zbxhist.run_maintenance(), which drops what has expired by the retention."""

    drops_days = True

    def add(self, day):
        self.store.partition(self.table, day)

    def maintain(self):
        self.store.execute("CALL zbxhist.run_maintenance('%s')" % self.table)

    def drop(self, day):
        kept = (periods.today() - day.date).days - 1
        self.store.execute(
            "SELECT zbxhist.alter_parent('%s', retention => '%d days', accept_deletion => true)"
            % (self.table, kept)
        )
        self.maintain()
        while self.has_table("%s_%s" % (self.table, day.suffix)):
            time.sleep(0.5)
            self.maintain()


class NativeUpkeep(Upkeep):
    """What scripts do, in the form that blocks writers least."""

    drops_days = True

    def add(self, day):
        self.store.add_partition(self.table, day)

    def drop(self, day):
        name = self.store.partition(self.table, day)
        self.store.execute("ALTER TABLE %s DETACH PARTITION %s CONCURRENTLY" % (self.table, name))
        self.store.execute("DROP TABLE " + name)


class PartmanUpkeep(Upkeep):
    """partman.run_maintenance(), as its background worker calls it."""

    drops_days = True

    def maintain(self):
        self.store.execute("SELECT partman.run_maintenance('public.%s', false)" % self.table)

    def add(self, day):
        self.store.execute("UPDATE partman.part_config SET premake = premake + 1")
        self.maintain()

    def drop(self, day):
        kept = (periods.today() - day.date).days - 1
        self.store.execute(
            "UPDATE partman.part_config SET retention = '%d days', "
            "retention_keep_table = false" % kept
        )
        self.maintain()


class PlpgsqlUpkeep(Upkeep):
    """The scripts of the trigger recipes."""

    drops_days = True

    def add(self, day):
        self.store.add_partition(self.table, day)

    def drop(self, day):
        self.store.execute("DROP TABLE " + self.store.partition(self.table, day))


class MariadbUpkeep(Upkeep):
    """ALTER TABLE, as scripts for MySQL do."""

    drops_days = True

    def add(self, day):
        self.store.add_partition(self.table, day)

    def drop(self, day):
        self.store.drop_partition(self.table, day)


KINDS = {
    "zbxhist": ZbxhistUpkeep,
    "zbxhist-trigger": ZbxhistUpkeep,
    "zbxhist-rows": ZbxhistUpkeep,
    "native": NativeUpkeep,
    "partman": PartmanUpkeep,
    "plpgsql": PlpgsqlUpkeep,
    "mariadb-partitioned": MariadbUpkeep,
}


def upkeep_of(store, table="history"):
    """Returns the administrator's work for a store."""
    return KINDS.get(store.name, Upkeep)(store, table)
