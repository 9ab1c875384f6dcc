"""The frame of every experiment: servers and stores at its start, a result at its end."""

import contextlib

from . import environment, results
from .cluster import Cluster, tuned_settings
from .progress import say
from .stores import select


# which --quick leaves out unless it is asked for them
SLOW_TO_START = ("cassandra",)


def names_of(arguments, names, slow=()):
    """The stores of --stores; without it these, --quick without the slow ones."""
    if arguments.stores:
        return arguments.stores.split(",")
    return [name for name in names if not (arguments.quick and name in slow)]


class Bench:
    """A running cluster with the stores that can be measured.

    skipped: why others cannot be, by name
    """

    def __init__(self, arguments, cluster, stores, skipped):
        self.arguments = arguments
        self.cluster = cluster
        self.stores = stores
        self.skipped = skipped

    def copies(self, suffix):
        """The same stores once more, under other names."""
        return [type(store)(self.cluster, suffix) for store in self.stores]

    def result(self, name, figures, problems):
        """A result: where it comes from, what went wrong, and the figures."""
        return dict(
            environment.description(self.cluster, self.arguments.command_line),
            experiment=name,
            quick=self.arguments.quick,
            skipped=self.skipped,
            problems=problems,
            **figures,
        )

    def conclude(self, name, figures, problems, show, draw):
        """Prints, draws and saves what was measured; the exit code.

        show(result) prints the tables, draw(result, stem) makes the plots, whose
        names begin with stem.  figures may have "name", the files' base name.
        """
        stem = results.base_name(self.arguments, figures.pop("name", name))
        result = self.result(name, figures, problems)
        show(result)
        results.print_targets(result.get("targets", []))
        draw(result, str(results.path_of(stem, "", self.arguments.output)))
        return results.conclude(stem, result, problems, self.arguments.output)


@contextlib.contextmanager
def bench(arguments, names, left_out=(), clock=None, **settings):
    """Starts a cluster, with settings beside the tuned ones, and makes the stores of these names.

    left_out: why some of them are not made, by name.  clock: a SimulatedClock that
    the cluster goes by.  Everything is stopped and removed at the end, also after
    an error.
    """
    bindir = environment.pg_config(arguments.pg_config, "bindir")
    with Cluster(
        bindir,
        dict(tuned_settings(arguments.shared_buffers), **settings),
        arguments.data_directory,
        clock.environment() if clock else None,
    ) as cluster:
        stores, skipped = select(cluster, [name for name in names if name not in left_out])
        skipped.update(left_out)
        for name, reason in skipped.items():
            say("%s is skipped: %s" % (name, reason))
        yield Bench(arguments, cluster, stores, skipped)
