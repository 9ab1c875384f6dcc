"""The stores that can be measured, by name."""

from .absent import Riak
from .cassandra import Cassandra, CassandraSync
from .hbase import Hbase
from .mariadb import Mariadb, MariadbPartitioned
from .mem import Mem
from .native import Native, NativeByHour
from .nullwrite import NullWrite
from .partman import Partman
from .plain import Plain
from .plpgsql import Plpgsql, PlpgsqlWiki
from .timescaledb import Timescale
from .zbxhist import (
    Zbxhist,
    ZbxhistArchived,
    ZbxhistByDay,
    ZbxhistByHour,
    ZbxhistByHourRuns,
    ZbxhistByHalfHourCompacted,
    ZbxhistByHourCompacted,
    ZbxhistNoKey,
    ZbxhistPacked,
    ZbxhistRounded,
    ZbxhistRoundedToSeconds,
    ZbxhistRows,
    ZbxhistRuns,
    ZbxhistRunsOfDay,
    ZbxhistRunsPreloaded,
    ZbxhistSetup,
    ZbxhistSetupRuns,
    ZbxhistSetupRunsPreloaded,
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
        PlpgsqlWiki,
        ZbxhistRows,
        ZbxhistTrigger,
        Zbxhist,
        ZbxhistNoKey,
        ZbxhistRuns,
        ZbxhistRunsPreloaded,
        ZbxhistRunsOfDay,
        ZbxhistPacked,
        ZbxhistArchived,
        ZbxhistRounded,
        ZbxhistRoundedToSeconds,
        ZbxhistByDay,
        ZbxhistByHour,
        ZbxhistByHourCompacted,
        ZbxhistByHalfHourCompacted,
        ZbxhistByHourRuns,
        ZbxhistSetup,
        ZbxhistSetupRuns,
        ZbxhistSetupRunsPreloaded,
        NativeByHour,
        Mem,
        NullWrite,
        Mariadb,
        MariadbPartitioned,
        Cassandra,
        CassandraSync,
        Hbase,
        Riak,
    )
}


def select(cluster, names):
    """The stores of these names: those to measure, and why the others cannot be."""
    present, skipped = [], {}
    for name in names:
        reason = STORES[name].missing(cluster)
        if reason:
            skipped[name] = reason
        else:
            present.append(STORES[name](cluster))
    return present, skipped
