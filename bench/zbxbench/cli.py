"""The command line of bench/run."""

import argparse
import re
import signal
import sys

from . import busy, day, housekeeper, life, pack, read, size, write
from .cluster import ServerError
from .drivers import Failed

# one module per experiment: NAME, HELP, add_arguments(parser), run(arguments)
EXPERIMENTS = (write, day, read, busy, life, size, pack, housekeeper)


def numbers(text):
    """Parses a list of whole numbers, such as 1,10,100."""
    return [int(part) for part in text.split(",")]


def add_common_arguments(parser):
    """Adds the options of every experiment."""
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a small run of under a minute; it shows that everything works, its figures are rough",
    )
    parser.add_argument(
        "--pg-config",
        default="pg_config",
        metavar="PROGRAM",
        help="pg_config of the PostgreSQL to measure",
    )
    parser.add_argument(
        "--data-directory",
        default="/var/tmp",
        metavar="DIR",
        help="directory of the private cluster (default: %(default)s)",
    )
    parser.add_argument(
        "--shared-buffers",
        type=int,
        metavar="MB",
        help="shared_buffers (default: a quarter of the memory)",
    )
    parser.add_argument(
        "--output", metavar="DIR", help="directory of the results (default: bench/results)"
    )
    parser.add_argument("--name", help="base name of the result files")


def build_parser():
    """Makes the parser."""
    parser = argparse.ArgumentParser(
        prog="bench/run",
        description=(
            "Measures zbxhist and other ways to keep Zabbix's history, each in a private "
            "PostgreSQL cluster that is removed afterwards."
        ),
    )
    commands = parser.add_subparsers(dest="experiment", required=True)
    for module in EXPERIMENTS:
        command = commands.add_parser(module.NAME, help=module.HELP, description=module.HELP)
        add_common_arguments(command)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


# options whose values are private
HIDDEN = "(--(?:connect|data-directory|output|pg-config))"


def command_line(words):
    """The command for the result file, without directories and addresses."""
    shown = ["bench/run"]
    for before, word in zip([""] + words, words):
        is_value = re.fullmatch(HIDDEN, before)
        shown.append("..." if is_value else re.sub("^%s=.*" % HIDDEN, r"\1=...", word))
    return " ".join(shown)


def main():
    """Runs one experiment; returns 0 if it ran and no store lost rows."""
    arguments = build_parser().parse_args()
    arguments.command_line = command_line(sys.argv[1:])
    # the cluster must also be removed when we are told to end
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return arguments.run(arguments)
    except (Failed, RuntimeError, ServerError) as error:
        print("bench/run: %s" % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
