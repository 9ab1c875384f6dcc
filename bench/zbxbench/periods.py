"""Days of simulated time; boundaries are UTC midnight, always."""

import calendar
import datetime
import functools
from typing import NamedTuple

DAY = 86400
HOUR = 3600


class Period(NamedTuple):
    """A partition's time: start included, stop excluded."""

    date: datetime.date
    start: int
    stop: int
    suffix: str


def clock(date):
    """Zabbix's clock of a date's first second."""
    return calendar.timegm(date.timetuple())


_pretended = None


def pretend(moment):
    """Makes it the day of this moment, in seconds since 1970; stores made before keep theirs."""
    global _pretended
    _pretended = datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).date()


def today():
    """The UTC date at the start, or the one pretended."""
    return _pretended or _real_today()


@functools.lru_cache(maxsize=None)
def _real_today():
    """A run that goes on past midnight keeps it."""
    return datetime.datetime.now(datetime.timezone.utc).date()


def day(date):
    """The period of one day."""
    return Period(date, clock(date), clock(date) + DAY, date.strftime("p%Y%m%d"))


def days(first, last):
    """The days from today + first to today + last."""
    return [day(today() + datetime.timedelta(days=offset)) for offset in range(first, last + 1)]
