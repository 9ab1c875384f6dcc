"""The frame of every experiment: servers and stores at the beginning, a result at the end."""

import contextlib

from . import environment, results
from .cluster import Cluster, tuned_settings
from .progress import say
from .stores import select


def names_of(arguments, names):
    """The stores of --stores, or the default."""
    return arguments.stores.split(",") if arguments.stores else names


class Bench:
    """A running cluster with the stores that can be measured.

    skipped: the reasons of the others, by name
    """

    def __init__(self, arguments, cluster, stores, skipped):
        self.arguments = arguments
        self.cluster = cluster
        self.stores = stores
        self.skipped = skipped

    def result(self, name, figures, problems):
        """A result: environment, problems and figures."""
        return dict(
            environment.description(self.cluster, self.arguments.command_line),
            experiment=name,
            quick=self.arguments.quick,
            skipped=self.skipped,
            problems=problems,
            **figures,
        )

    def conclude(self, name, figures, problems, show, draw):
        """Prints, plots and saves a result; returns the exit code.

        show(result) prints tables, draw(result, stem) makes the plots, whose names begin with stem.
        figures may have "name", the base name of the files.
        """
        stem = results.base_name(self.arguments, figures.pop("name", name))
        result = self.result(name, figures, problems)
        show(result)
        draw(result, str(results.path_of(stem, "", self.arguments.output)))
        return results.conclude(stem, result, problems, self.arguments.output)


@contextlib.contextmanager
def bench(arguments, names, clock=None, **settings):
    """Starts a cluster, with settings beside the common ones, and makes the named stores.

    clock: a SimulatedClock for the cluster.  Everything is stopped and removed at the end, also
    after an error.
    """
    bindir = environment.pg_config(arguments.pg_config, "bindir")
    with Cluster(
        bindir,
        dict(tuned_settings(arguments.shared_buffers), **settings),
        arguments.data_directory,
        clock.environment() if clock else None,
    ) as cluster:
        stores, skipped = select(cluster, names)
        for name, reason in skipped.items():
            say("%s is skipped: %s" % (name, reason))
        yield Bench(arguments, cluster, stores, skipped)
