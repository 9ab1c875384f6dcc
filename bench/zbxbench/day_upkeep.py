"""What each store's administrator has called by a timer, and what is then still to be done."""

TABLE = "history"


class DayUpkeep:
    """Nothing: partitions were made by hand."""

    statement = None

    def __init__(self, store, clock):
        self.store = store
        self.clock = clock

    def maintain(self):
        """One run, in a session of its own that goes by the simulated clock."""
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
        """When what is left of a day will be packed; None: nothing is left, or it never will."""
        del day

    def close(self, day):
        """What is called by hand when the day is over."""

    def state(self, day):
        """What the day consists of now, in words."""
        del day
        return ""


class PartmanUpkeep(DayUpkeep):
    """As its background worker calls it."""

    statement = "SELECT partman.run_maintenance('public.%s', false)" % TABLE


# a day's tables, packed and not
PARTS = """
SELECT d.day, d.from_clock, d.to_clock, true AS is_packed FROM zbxhist.packed_day d
 WHERE d.parent = '{0}'::regclass AND NOT d.unpacked AND d.from_clock < {2} AND d.to_clock > {1}
 UNION ALL
SELECT p.partition, p.from_clock, p.to_clock, false FROM zbxhist.list_partitions('{0}') p
 WHERE p.from_clock < {2} AND p.to_clock > {1}"""


class ZbxhistUpkeep(DayUpkeep):
    """The one call for cron; the policy says what it does."""

    statement = "CALL zbxhist.run_maintenance('%s')" % TABLE

    def _parts(self, day, wanted):
        """Something about the tables that hold the day."""
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
    """How that store is looked after during the day."""
    if store.name.startswith("zbxhist"):
        return ZbxhistUpkeep(store, clock)
    return PartmanUpkeep(store, clock) if store.name == "partman" else DayUpkeep(store, clock)
