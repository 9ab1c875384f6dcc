"""Reduces a difference to the statements that are needed for it."""

import time

from .episode import Different, Pair
from .statement import statement_of


def differs(server, entries, last):
    """Replays a list on new databases; returns the difference at its end, or None."""
    server.renew()
    pair = Pair(server)
    try:
        for entry in entries:
            try:
                pair.play(entry)
            except Different as found:
                return found if entry is last else None
        if last == ("contents",):
            pair.compare_tables()
    except Different as found:
        return found
    except (ConnectionError, TimeoutError):
        return None
    finally:
        pair.close()
    return None


def fewer(server, entries, found, until):
    """Removes entries that the difference at the end of the list does not need."""
    entries, last = list(entries[:-1]), entries[-1]
    played = [] if last == ("contents",) else [last]
    size = max(1, len(entries) // 2)
    while size:
        at = len(entries) - size
        while at > -size and time.time() < until:
            low = max(at, 0)
            less = entries[:low] + entries[at + size :]
            again = differs(server, less + played, last)
            if again and again.what == found.what:
                entries, found = less, again
            at -= size
        size //= 2
    return entries + [last], found


def smaller(server, entries, found, until):
    """Simplifies the last statement."""
    select = entries[-1][1].select if entries[-1][0] == "both" else None
    parameters = entries[-1][1].given if select else None
    is_better = select is not None
    while is_better and time.time() < until:
        is_better = False
        for less in select.smaller():
            entry = ("both", statement_of(less, parameters))
            again = differs(server, entries[:-1] + [entry], entry)
            if again and not (again.answers[0].error and again.answers[1].error):
                select, entries, found, is_better = less, entries[:-1] + [entry], again, True
                break
    return entries, found


def reduced(server, entries, found, seconds):
    """Returns the shortest list that ends with the difference, and the difference."""
    until = time.time() + seconds
    again = differs(server, entries if entries[-1] != ("contents",) else entries[:-1], entries[-1])
    if again is None:
        return entries[-1:], found, False
    entries, found = fewer(server, entries, again, until)
    entries, found = smaller(server, entries, found, until)
    return entries, found, True
