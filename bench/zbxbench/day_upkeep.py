"""The maintenance of each store by a timer, and what remains to be done."""

TABLE = "history"


class DayUpkeep:
    """No maintenance: partitions were made by hand."""

    statement = None

    def __init__(self, store, clock):
        self.store = store
        self.clock = clock

    def maintain(self):
        """Runs it once, in a session that uses the simulated clock."""
        if self.statement is None:
            return
        connection = self.store.connect()
        try:
            self.clock.check(connection)
            with connection.cursor() as cursor:
                cursor.execute(self.statement)
        finally:
            connection.close()

    def due(self, day):
        """The time at which the rest of a day can be packed; None if nothing is left, or it
        never can."""
        del day

    def close(self, day):
        """What the administrator does by hand after the day."""

    def state(self, day):
        """Describes the tables of the day."""
        del day
        return ""


class PartmanUpkeep(DayUpkeep):
    """pg_partman: as its background worker calls it."""

    statement = "SELECT partman.run_maintenance('public.%s', false)" % TABLE


# the tables of a day, packed and not
PARTS = """
SELECT d.day, d.from_clock, d.to_clock, true AS is_packed FROM zbxhist.packed_day d
 WHERE d.parent = '{0}'::regclass AND NOT d.unpacked AND d.from_clock < {2} AND d.to_clock > {1}
 UNION ALL
SELECT p.partition, p.from_clock, p.to_clock, false FROM zbxhist.list_partitions('{0}') p
 WHERE p.from_clock < {2} AND p.to_clock > {1}"""


class ZbxhistUpkeep(DayUpkeep):
    """zbxhist: the one call of cron; the policy determines what it does."""

    statement = "CALL zbxhist.run_maintenance('%s')" % TABLE

    def _parts(self, day, wanted):
        """Asks about the tables of the day."""
        parts = PARTS.format(TABLE, day.start, day.stop)
        return self.store.execute("SELECT %s FROM (%s) p" % (wanted, parts))[0]

    def due(self, day):
        return self._parts(
            day,
            "extract(epoch FROM max(to_timestamp(p.to_clock) + (SELECT c.pack_after "
            "FROM zbxhist.parent_config c WHERE c.parent = '%s'::regclass)) "
            "FILTER (WHERE NOT is_packed))::bigint" % TABLE,
        )[0]

    def close(self, day):
        self.store.close_period(TABLE, day)

    def state(self, day):
        return "%d packed, %d not" % self._parts(
            day, "count(*) FILTER (WHERE is_packed), count(*) FILTER (WHERE NOT is_packed)"
        )


def upkeep_of(store, clock):
    """Returns the maintenance of a store."""
    if store.name.startswith("zbxhist"):
        return ZbxhistUpkeep(store, clock)
    return PartmanUpkeep(store, clock) if store.name == "partman" else DayUpkeep(store, clock)
