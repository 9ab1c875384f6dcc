"""The command line, and the final report."""

import argparse
import random
import re
import time
from collections import Counter

from .episode import Different, Episode
from .reduce import reduced
from .schedules import Play
from .server import Server, any_server


def parse():
    """Parses the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument(
        "--statements", type=int, help="number of statements (default: 20000 without --schedules)"
    )
    parser.add_argument(
        "--schedules", type=int, default=0, help="number of schedules of several sessions"
    )
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--length", type=int, default=1200, help="statements per episode")
    parser.add_argument("--episode", type=int, default=None, help="run this episode only")
    parser.add_argument("--reduce", type=float, default=60, help="seconds to reduce a difference")
    parser.add_argument("--without", type=re.compile, help="pattern of statements to leave out")
    parser.add_argument("--most", type=int, default=10, help="differences after which to stop")
    arguments = parser.parse_args()
    if arguments.statements is None:
        arguments.statements = 0 if arguments.schedules else 20000
    return arguments


def report(number, seed, entries, found, is_repeated):
    """Prints a difference."""
    print(
        f"\nseed {seed}, episode {number}: {found.what}"
        + ("" if is_repeated else " (not repeatable)")
    )
    if len(entries) > 40:
        print(f"  after {len(entries) - 5} others:")
        entries = entries[-5:]
    for entry in entries:
        if entry[0] == "upkeep":
            print("  maintenance:", "; plain: ".join(filter(None, entry[1:])))
        elif entry[0] == "both":
            print("  ", entry[1])
    if entries[-1] == ("contents",):
        print("  ", found.statement)
    print("plain: ", found.answers[0].describe())
    print("managed: ", found.answers[1].describe(), flush=True)


def run(server, arguments, seed):
    """Runs episodes; returns the number of differences."""
    began, seen, differences = time.time(), Counter(), 0
    done, number = 0, arguments.episode or 0
    while done < arguments.statements and differences < arguments.most:
        if arguments.seconds and time.time() - began > arguments.seconds:
            break
        episode = Episode(
            server,
            seed,
            number,
            min(arguments.length, arguments.statements - done),
            arguments.without,
        )
        try:
            episode.run()
        except Different as found:
            differences += 1
            entries = cut(episode.list, found)
            episode.pair.close()
            report(number, seed, *reduced(server, entries, found, arguments.reduce))
        done += episode.count
        seen += episode.pair.seen
        episode.pair.close()
        number += 1
        if arguments.episode is not None:
            break
    for what, times in sorted(seen.items()):
        print(f"{what}: {times}")
    print(f"{done} statements in {time.time() - began:.0f} s, {differences} differences")
    return differences


def run_schedules(server, arguments, seed):
    """Runs schedules, some hundred per new database; in one of ten databases with plain tables
    only."""
    began, seen, wrong, number = time.time(), Counter(), 0, arguments.episode or 0
    while seen["schedules"] < arguments.schedules and wrong < arguments.most:
        if arguments.seconds and time.time() - began > arguments.seconds:
            break
        play = Play(server, seed, number, is_managed=number % 10 != 9)
        found = play.run(min(100, arguments.schedules - seen["schedules"]))
        if found:
            wrong += 1
            kind = "managed" if play.is_managed else "plain"
            print(f"\nseed {seed}, episode {number}, {kind}, {found}", flush=True)
        seen += play.seen
        play.close()
        number += 1
        if arguments.episode is not None:
            break
    for what, times in sorted(seen.items()):
        print(f"{what}: {times}")
    print(f"{seen['schedules']} schedules in {time.time() - began:.0f} s, {wrong} differences")
    return wrong


def cut(entries, found):
    """The list up to the statement that differs."""
    for place in range(len(entries) - 1, -1, -1):
        if entries[place][0] == "both" and entries[place][1] is found.statement:
            return entries[: place + 1]
    return entries


def main():
    """Runs the program; returns the exit code."""
    arguments = parse()
    seed = arguments.seed
    if seed is None:
        seed = random.SystemRandom().randrange(10**9)
    print(f"seed {seed}", flush=True)
    differences = 0
    with any_server() as address:
        server = Server(address, seed)
        if arguments.statements:
            differences += run(server, arguments, seed)
        if arguments.schedules:
            differences += run_schedules(server, arguments, seed)
    return 1 if differences else 0
