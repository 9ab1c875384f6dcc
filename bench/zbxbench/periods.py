"""Days of simulated time.  They begin at midnight UTC."""

import calendar
import datetime
import functools
from typing import NamedTuple

DAY = 86400
HOUR = 3600


class Period(NamedTuple):
    """The time of a partition; start is inclusive, stop exclusive."""

    date: datetime.date
    start: int
    stop: int
    suffix: str


def clock(date):
    """The clock of a date's first second."""
    return calendar.timegm(date.timetuple())


_pretended = None


def pretend(moment):
    """Sets today to the day of this moment, in seconds since 1970; existing stores keep
    theirs."""
    global _pretended
    _pretended = datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).date()


def today():
    """The UTC date at the start, or the simulated one."""
    return _pretended or _real_today()


@functools.lru_cache(maxsize=None)
def _real_today():
    """a run that continues past midnight keeps its date"""
    return datetime.datetime.now(datetime.timezone.utc).date()


def day(date):
    """The period of a day."""
    return Period(date, clock(date), clock(date) + DAY, date.strftime("p%Y%m%d"))


def days(first, last):
    """The days from today + first to today + last."""
    return [day(today() + datetime.timedelta(days=offset)) for offset in range(first, last + 1)]
