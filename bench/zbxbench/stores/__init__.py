"""The stores that can be measured, by name."""

from .mariadb import Mariadb, MariadbPartitioned
from .native import Native
from .partman import Partman
from .plain import Plain
from .plpgsql import Plpgsql
from .timescaledb import Timescale
from .zbxhist import (
    Zbxhist,
    ZbxhistByDay,
    ZbxhistByHour,
    ZbxhistPacked,
    ZbxhistRounded,
    ZbxhistRoundedToSeconds,
    ZbxhistRows,
    ZbxhistSetup,
    ZbxhistTrigger,
)

STORES = {
    store.name: store
    for store in (
        Plain,
        Native,
        Partman,
        Timescale,
        Plpgsql,
        ZbxhistRows,
        ZbxhistTrigger,
        Zbxhist,
        ZbxhistPacked,
        ZbxhistRounded,
        ZbxhistRoundedToSeconds,
        ZbxhistByDay,
        ZbxhistByHour,
        ZbxhistSetup,
        Mariadb,
        MariadbPartitioned,
    )
}


def select(cluster, names):
    """The stores of these names: those to measure, and why the others cannot be measured."""
    present, skipped = [], {}
    for name in names:
        reason = STORES[name].missing(cluster)
        if reason:
            skipped[name] = reason
        else:
            present.append(STORES[name](cluster))
    return present, skipped
