"""The shapes of statement that the part "questions" of the read experiment asks.

Those of Zabbix, those that Grafana's plugin for PostgreSQL makes, and those that people
write by hand.  Each is SQL of a Place: some items and a stretch of time.
"""

import dataclasses

from .read_lookups import graph

HOSTS_ITEMS = 10  # items of a host
MANY = (5, 50, 200)  # items of a Grafana panel
ITEMS = 10  # items of the others


@dataclasses.dataclass(frozen=True)
class Place:
    """What is asked for: items, times, both included, and the seconds of a bucket.

    since: the same first second as an expression that is known when the statement runs
    """

    items: tuple
    unsigned: tuple
    first: int
    last: int
    bucket: int
    since: str

    def some(self, count=ITEMS):
        """A list of so many of the items."""
        return ",".join(map(str, self.items[:count]))

    @property
    def item(self):
        """One of the items."""
        return self.items[0]

    @property
    def host(self):
        """The host of that item."""
        return self.item // HOSTS_ITEMS

    @property
    def time(self):
        """The condition on clock."""
        return "clock>=%d AND clock<=%d" % (self.first, self.last)

    @property
    def by(self):
        """The expression of a bucket."""
        return "clock/%d*%d" % (self.bucket, self.bucket)

    def where(self, count=ITEMS):
        """The conditions on items and clock."""
        return "itemid IN (%s) AND %s" % (self.some(count), self.time)

    def by_bucket(self, call, count=ITEMS):
        """An aggregate by item and bucket."""
        return "SELECT itemid,%s AS time,%s FROM history WHERE %s GROUP BY 1,2" % (
            self.by,
            call,
            self.where(count),
        )

    def by_item(self, calls):
        """Aggregates by item."""
        return "SELECT itemid,%s FROM history WHERE %s GROUP BY itemid" % (calls, self.where())


def _zabbix(place):
    """What its server and frontend send, see also read_lookups."""
    tick = "CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),%d)" % place.bucket
    width = "round(900.0*(clock-%d)/%d,0)" % (place.first, place.last + 1 - place.first)
    newest = "SELECT * FROM history h WHERE h.itemid='%d' AND h.clock>%d ORDER BY h.clock DESC"
    asked = (place.item, place.first - 1)
    return {
        "value cache, all since": "select clock,ns,value from history where itemid=%d and clock>%d"
        % asked,
        "value cache, range": "select clock,ns,value from history where itemid=%d and clock>%d "
        "and clock<=%d" % (*asked, place.last),
        "value cache, newest 2": "select clock,ns,value from history where itemid=%d and clock<=%d "
        "and clock>%d order by clock desc limit 2" % (place.item, place.last, place.first - 1),
        "latest data, newest 2": newest % asked + ",h.ns DESC LIMIT 2",
        "history.get": "SELECT h.* FROM history h WHERE h.itemid IN (%s) AND h.clock>=%d AND "
        "h.clock<=%d ORDER BY h.clock" % (place.some(), place.first, place.last),
        "classic graph": "SELECT itemid,COUNT(*) AS count,AVG(value) AS avg,MIN(value) AS min,"
        "MAX(value) AS max,%s AS i,MAX(clock) AS clock FROM history WHERE itemid='%d' AND "
        "clock>='%d' AND clock<='%d' GROUP BY itemid,%s ORDER BY itemid,i"
        % (width, place.item, place.first, place.last, width),
        "svggraph, average": "SELECT itemid,%s AS tick,AVG(value) AS value,MAX(clock) AS clock,"
        "COUNT(*) AS num FROM history WHERE itemid IN (%s) AND clock BETWEEN %d AND %d "
        "GROUP BY itemid,%s" % (tick, place.some(), place.first, place.last, tick),
        "svggraph, first (6.0)": graph(
            "6.0", place.items[:ITEMS], place.first, place.last, place.bucket
        ),
        "svggraph, last (7.0)": graph(
            "7.0", place.items[:ITEMS], place.first, place.last, place.bucket
        ),
        "svggraph, last (7.0), one item": graph(
            "7.0", place.items[:1], place.first, place.last, place.bucket
        ),
        "widget, one number an item": "SELECT itemid,AVG(value) AS value,MAX(clock) AS clock FROM "
        "history WHERE %s GROUP BY itemid" % place.where(),
        "latest data, which have values": "SELECT DISTINCT itemid FROM history WHERE itemid IN (%s) "
        "AND clock>%d" % (place.some(), place.first),
    }


def _which(place):
    """Ways to say of which items and times."""
    many = place.items[:50]
    hourly = "SELECT itemid,%s AS time,avg(value) FROM history WHERE %%s AND %%s GROUP BY 1,2" % (
        place.by
    )
    found = {
        "Grafana, %d items" % count: place.by_bucket("avg(value)", count) + " ORDER BY 2"
        for count in MANY
        if count <= len(place.items)
    }
    found.update(
        {
            "itemid BETWEEN": hourly
            % ("itemid BETWEEN %d AND %d" % (min(many), max(many)), place.time),
            "IN, ORDER BY clock LIMIT 100": "SELECT * FROM history WHERE %s ORDER BY clock DESC "
            "LIMIT 100" % place.where(),
            "clock >= extract(...)": hourly
            % (
                "itemid IN (%s)" % place.some(),
                "clock >= extract(epoch FROM %s)" % place.since,
            ),
            "to_timestamp(clock) >= ...": hourly
            % ("itemid IN (%s)" % place.some(), "to_timestamp(clock) >= " + place.since),
            "scalar subquery for the item": "SELECT clock,value FROM history WHERE itemid="
            "(SELECT itemid FROM items WHERE name='item %d') AND %s" % (place.item, place.time),
            "JOIN items WHERE hostid": "SELECT h.itemid,avg(h.value) FROM history h JOIN items i "
            "ON i.itemid=h.itemid WHERE i.hostid=%d AND %s GROUP BY h.itemid"
            % (place.host, place.time),
            "IN (SELECT itemid)": hourly
            % ("itemid IN (SELECT itemid FROM items WHERE hostid=%d)" % place.host, place.time),
            "IN (VALUES)": hourly
            % (
                "itemid IN (VALUES %s)" % ",".join("(%d)" % item for item in place.items[:ITEMS]),
                place.time,
            ),
        }
    )
    return found


def _aggregated(place):
    """What is computed."""
    middle = "(array_agg(value ORDER BY clock,ns))[1]"
    union = (
        "SELECT itemid,count(*),avg(value) FROM (SELECT itemid,clock,value FROM history WHERE %s "
        "UNION ALL SELECT itemid,clock,value::float8 FROM history_uint WHERE itemid IN (%s) AND %s) h "
        "GROUP BY itemid" % (place.where(), ",".join(map(str, place.unsigned)), place.time)
    )
    keys = "itemid,%s" % place.by
    sets = "SELECT itemid,%s AS time,count(*),avg(value) FROM history WHERE %s GROUP BY %%s" % (
        place.by,
        place.where(),
    )
    return {
        "FILTER": place.by_item(
            "count(*) FILTER (WHERE value>50),avg(value) FILTER (WHERE value<50)"
        ),
        "stddev, variance": place.by_item("stddev(value),var_pop(value),stddev_pop(value)"),
        "bool_or, bool_and": place.by_item("bool_or(value>99),bool_and(value>1)"),
        "count(DISTINCT itemid)": "SELECT %s AS time,count(DISTINCT itemid) FROM history WHERE %s "
        "GROUP BY 1" % (place.by, place.where()),
        "regr_slope": place.by_item("regr_slope(value,clock-%d)" % place.first),
        "percentile_cont": place.by_bucket("percentile_cont(0.95) WITHIN GROUP (ORDER BY value)"),
        "first of a bucket": place.by_bucket(middle),
        "last of a bucket": place.by_bucket(middle.replace("clock,ns", "clock DESC,ns DESC")),
        "width_bucket": "SELECT width_bucket(value,0,100,20),count(*) FROM history WHERE %s "
        "GROUP BY 1" % place.where(),
        "avg(value::numeric)": place.by_item("avg(value::numeric)"),
        "ROLLUP": sets % ("ROLLUP (%s)" % keys),
        "GROUPING SETS": sets % ("GROUPING SETS ((itemid),(%s))" % place.by),
        "by host": "SELECT o.name,%s AS time,avg(h.value) FROM history h JOIN items i ON "
        "i.itemid=h.itemid JOIN hosts o ON o.hostid=i.hostid WHERE h.%s GROUP BY 1,2"
        % (place.by.replace("clock", "h.clock"), place.where(50)),
        "UNION ALL of two tables": union,
        "generate_series LEFT JOIN": "SELECT s.t,avg(h.value) FROM generate_series(%d,%d,%d) s(t) "
        "LEFT JOIN history h ON h.itemid=%d AND h.clock>=s.t AND h.clock<s.t+%d GROUP BY s.t"
        % (place.first, place.last, place.bucket, place.item, place.bucket),
    }


# whose answers are the same in this column only: which rows come of those that are equal is open
ONLY = {"IN, ORDER BY clock LIMIT 100": 1}


def shapes(place):
    """SQL by name."""
    return {**_zabbix(place), **_which(place), **_aggregated(place)}
