"""Counters and faults of the workers, each worker's in a file."""

import collections
import json
import os
import time


class Tally:
    """The counts of one worker, written to disk about every second."""

    def __init__(self, place, name):
        self.path = os.path.join(place, "tally", name + ".json")
        self.counts = collections.Counter()
        self.faults = []
        self.written = 0

    def add(self, what, number=1):
        self.counts[what] += number
        if time.monotonic() - self.written > 1:
            self.write()

    def fault(self, text):
        """Notes a fault: a row lost, duplicated or misread, or an unexpected error."""
        self.counts["FAULT"] += 1
        if len(self.faults) < 20:
            self.faults.append(text[:2000])
        self.write()

    def write(self):
        self.written = time.monotonic()
        with open(self.path + ".new", "w") as file:
            json.dump({"counts": self.counts, "faults": self.faults}, file)
        os.replace(self.path + ".new", self.path)


def read_all(place):
    """Returns the counts by worker, and all faults."""
    counts, faults = {}, []
    directory = os.path.join(place, "tally")
    for name in sorted(os.listdir(directory)):
        if name.endswith(".json"):
            with open(os.path.join(directory, name)) as file:
                tally = json.load(file)
            counts[name[:-5]] = tally["counts"]
            faults += ["%s: %s" % (name[:-5], text) for text in tally["faults"]]
    return counts, faults
