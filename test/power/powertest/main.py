"""Records servers, loses their power at chosen times, and checks what is left.  Prints TAP."""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from . import disk
from .check import History, Image
from .mutants import check_mutants
from .record import Scene

LEVELS = ("minimal", "replica", "logical")
# of one recording
IMAGES = 60
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Report:
    """Prints TAP."""

    def __init__(self):
        self.number = self.failed = 0

    def result(self, name, problems=(), skip=None):
        self.number += 1
        self.failed += bool(problems)
        print(
            "%s %d - %s%s"
            % ("not ok" if problems else "ok", self.number, name, " # SKIP " + skip if skip else "")
        )
        for problem in problems:
            self.say(problem)
        sys.stdout.flush()

    def say(self, what):
        print("# " + what, flush=True)


def build_libraries(place):
    libraries = {}
    for name in ("clock", "power"):
        libraries[name] = os.path.join(place, name + ".so")
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-O2", "-Wall", "-o", libraries[name]]
            + [os.path.join(SOURCE, name, name + ".c")],
            check=True,
        )
    return libraries


def moments(scene, read, chance, number):
    """Chooses times of power loss: nearly half of them at random, the others at critical steps
    or during recovery."""
    control = read.names["global/pg_control"]
    special = [
        step.end
        for step in read.steps
        if step.begin > scene.ready
        and (step.is_journaled() or step.file is control or step.file in read.special)
    ]
    chosen = []
    for _ in range(number):
        what = chance.random()
        if what < 0.1:
            chosen.append(chance.randint(scene.crashed, scene.recovered))
        elif what < 0.55:
            chosen.append(chance.choice(special) + chance.randint(0, 3))
        else:
            chosen.append(chance.randint(scene.ready, scene.end))
    return sorted(chosen)


def check_image(scene, read, moment, kind, chance, keep=False):
    """Makes an image and checks it; returns its description and its problems."""
    read.advance(moment)
    chosen, journaled = disk.choose(read, chance, kind)
    name = "%s %d at %d: %s, %d of %d writes, %d of %d names" % (
        scene.level,
        scene.seed,
        moment,
        kind,
        len(chosen),
        len(read.unsynced_writes()),
        journaled,
        read.unsynced_journal(),
    )
    path = os.path.join(scene.place, "image")
    os.makedirs(os.path.join(path, "data"))
    read.image(os.path.join(path, "data"), chosen, journaled)
    problems = Image(scene, moment, path).check()
    if problems and keep and len(scene.kept) < 3:
        kept = "%s-%d-%d" % (path, moment, random.randrange(10**6))
        os.rename(path, kept)
        scene.kept.append(kept)
        problems.append("kept: " + kept)
    else:
        shutil.rmtree(path)
    return name, problems


def check_scene(scene, images, report, chance):
    read = scene.read()
    for moment in moments(scene, read, chance, images):
        kind = chance.choice(disk.KINDS)
        report.result(*check_image(scene, read, moment, kind, chance, scene.keep))
    report.result(
        "%s %d: all that the server did was recorded" % (scene.level, scene.seed),
        ["not what it is: " + name for name in read.differences(scene.data)],
    )


def parse_arguments():
    parser = argparse.ArgumentParser(prog="test/power/run", description=__doc__)
    parser.add_argument("--images", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wal-level", choices=LEVELS, action="append")
    parser.add_argument(
        "--hours", type=int, default=12, help="hours of a recording, by the servers' clock"
    )
    parser.add_argument("--place", help="working directory; needs 1 to 2 GB")
    parser.add_argument("--keep", action="store_true", help="keep failed images")
    return parser.parse_args()


def choose_place(wanted):
    """Returns a directory in memory, if there is enough: nothing here must survive a real power
    loss."""
    if wanted is None and os.access("/dev/shm", os.W_OK):
        status = os.statvfs("/dev/shm")
        if status.f_bavail * status.f_frsize > 3 << 30:
            wanted = "/dev/shm"
    return tempfile.mkdtemp(prefix="zbxhist-power.", dir=wanted)


def stop(*_):
    raise SystemExit(1)


def main():
    options = parse_arguments()
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, stop)
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]
    levels = options.wal_level or list(LEVELS)
    report = Report()
    place = choose_place(options.place)
    scene = None
    try:
        libraries = build_libraries(place)
        left = options.images
        seed = options.seed
        rounds = max(len(levels), -(-left // IMAGES))
        for number in range(rounds):
            images = left // (rounds - number)
            left -= images
            begun = time.monotonic()
            scene = Scene(
                os.path.join(place, "scene%d" % seed),
                libraries,
                levels[number % len(levels)],
                seed,
                options.hours,
            )
            scene.keep = options.keep
            scene.kept = []
            scene.set_up()
            scene.record()
            scene.histories = {each.number: History(each) for each in scene.writers}
            report.say(
                "recorded %s, seed %d, in %d s: %s"
                % (
                    scene.level,
                    seed,
                    time.monotonic() - begun,
                    ", ".join("%d %s" % (n, what) for what, n in sorted(scene.counts().items())),
                )
            )
            check_scene(scene, images, report, random.Random(seed))
            if number < len(levels):
                check_mutants(scene, report, random.Random(seed), check_image)
            if not scene.kept:
                shutil.rmtree(scene.place)
            seed += 1
    finally:
        if scene is not None and scene.is_running():
            scene.server.end(signal.SIGQUIT)
        if not (options.keep and report.failed):
            shutil.rmtree(place, ignore_errors=True)
    print("1..%d" % report.number)
    return 1 if report.failed else 0
