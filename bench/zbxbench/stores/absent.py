"""A store of the papers that cannot be had; it says why."""

from .base import Store


class Absent(Store):
    """A row in the tables with the reason in place of figures."""

    is_postgres = False
    keeps_rows = False
    reason = ""

    @classmethod
    def missing(cls, cluster):
        return cls.reason

    def _refuse(self, *_):
        raise NotImplementedError(self.reason)

    loader_arguments = server_cpu = settle = before_run = create = target = _refuse
    clean = rows = checksum = check = drop = _refuse


class Riak(Absent):
    """HistoryGluon's third store."""

    name = "riak"
    label = "Riak"
    reason = "not to be had: Basho's packages have ended, and no registry has its server"
