"""Faults that the test must find: the same recordings, but with syncs that do nothing."""

import bisect
import os
import struct

# byte offset in global/pg_control of the LSN at which recovery begins; a data page has its
# own LSN at 0
REDO = 40
TRIES = 8


def redo_of(step):
    return struct.unpack_from("=Q", step.data, REDO)[0]


def place_of(step):
    """The LSN of a page; 0 if it was not logged."""
    high, low = struct.unpack_from("=II", step.data)
    return high << 32 | low


def control_writes(disk):
    control = disk.names["global/pg_control"]
    return [step for step in disk.steps if step.file is control and step.what == "W"]


def unsynced_days(scene, disk):
    """Times at which a packed day is committed, but a page of it is not synced, and recovery
    would not write it because it begins after its WAL record."""
    controls = control_writes(disk)
    redos = [redo_of(step) for step in controls]
    found = set()
    for step in disk.steps:
        # no visibility maps, and no zero pages that extend a file: losing these does no
        # harm
        name = disk.special.get(step.file, "_")
        if step.what != "W" or step.begin <= scene.ready or "_" in name or not any(step.data):
            continue
        after = bisect.bisect_left(redos, place_of(step))
        if after < len(controls):
            first_seen, last_seen = scene.watcher.seen[name.split(".")[0]]
            first = max(first_seen, controls[after].end, step.end) + 1
            last = min(last_seen, step.durable_at) - 1
            if first <= last:
                # with wal_level = minimal a small table is logged when it is committed
                found.add(first if place_of(step) else int(last))
    return sorted(found)


class Mutant:
    def __init__(self, name, pretends, moments):
        self.name = name
        self.pretends = pretends
        self.moments = moments


def mutants(scene):
    checkpointers = {step.pid for step in control_writes(scene.read())}

    def is_of_day(step, name):
        return scene.is_day_file(name)

    def is_of_day_by_who_made_it(step, name):
        return scene.is_day_file(name) and step.pid not in checkpointers

    def is_of_log(step, name):
        return step.begin > scene.ready and os.path.dirname(name) == "pg_wal"

    return (
        Mutant(
            "no sync of packed days",
            is_of_day,
            lambda disk: unsynced_days(scene, disk),
        ),
        Mutant(
            "no sync of packed days but by checkpoints",
            is_of_day_by_who_made_it,
            lambda disk: [] if scene.level == "minimal" else unsynced_days(scene, disk),
        ),
        Mutant("no sync of the log", is_of_log, lambda disk: range(scene.ready, scene.end)),
    )


def check_mutants(scene, report, chance, check_image):
    """Each fault must be found by one of a few images."""
    for mutant in mutants(scene):
        name = "%s %d: found: %s" % (scene.level, scene.seed, mutant.name)
        disk = scene.read(mutant.pretends)
        moments = list(mutant.moments(disk))
        if not moments:
            report.result(name, skip="no checkpoint came in between")
            continue
        problems = []
        moments = sorted(chance.sample(moments, min(TRIES, len(moments))))
        for moment in moments:
            image, problems = check_image(scene, disk, moment, "nothing", chance)
            if problems:
                break
        if problems:
            report.result(name)
            report.say("%s: %s" % (image, problems[0]))
        else:
            report.result(name, ["%d images have all that they must have" % len(moments)])
