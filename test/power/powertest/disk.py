"""The disk of a recorded server at the time of a power loss.

The model is a file system with a journal, such as ext4 or XFS, and guarantees only this:

* A write, or any of its 512-byte sectors, may or may not be on the disk, independently of other
  writes, until a sync of its file that began after the write has ended.  Then it is.
* Changes of names and lengths (create, rename, link, unlink, mkdir, truncate) go through the
  journal.  Of those that are not synced, the oldest ones, any number of them, are there, and the
  others are not.  A sync of a file or directory includes its changes, and so all earlier ones.
* A file whose name is not there is gone with its content.
"""

import bisect
import math
import os
import struct

HEADER = struct.Struct("=QQQQQiiiiii")
SECTOR = 512

# written by stdio, or useless to another server
LEFT_OUT = ("postmaster.pid", "postmaster.opts", "pg_internal.init", "pgstat.stat")


class File:
    """A file independently of its names: the content that is certainly on the disk, and later
    steps."""

    def __init__(self, content=b""):
        self.content = bytearray(content)
        self.queue = []
        # steps that wait for a sync while the recording is read
        self.waiting = []


class Directory(File):
    """A directory, whose names are changed by steps."""


class Step:
    """A record of the recording library."""

    __slots__ = (
        "what",
        "begin",
        "end",
        "inode",
        "offset",
        "data",
        "pid",
        "is_durable",
        "name",
        "other",
        "file",
        "number",
        "durable_at",
    )

    def changes_names(self):
        return self.what in "CRLUMD"

    def is_journaled(self):
        return self.what != "W"

    def apply(self, content, sectors=None):
        """Applies the step to a file's content; of a write only these sectors, if given."""
        if self.what == "T":
            if len(content) > self.offset:
                del content[self.offset :]
            else:
                content.extend(bytes(self.offset - len(content)))
        elif self.what == "A":
            content.extend(bytes(max(0, self.offset - len(content))))
        else:
            for first, last in [(0, len(self.data))] if sectors is None else sectors:
                begin = self.offset + first
                content.extend(bytes(max(0, begin - len(content))))
                content[begin : self.offset + last] = self.data[first:last]

    def apply_to_names(self, names):
        if self.what in "CM":
            names[self.name] = self.file
        elif self.what == "L":
            names[self.other] = self.file
        elif self.what == "R":
            below = self.name + "/"
            for name in [each for each in names if each.startswith(below)]:
                names[self.other + "/" + name[len(below) :]] = names.pop(name)
            names.pop(self.name, None)
            names[self.other] = self.file
        else:
            names.pop(self.name, None)


def is_left_out(name):
    return os.path.basename(name).startswith(LEFT_OUT)


def read_steps(path):
    """Reads the records in the order of their beginnings."""
    steps = []
    with open(path, "rb") as file:
        log = memoryview(file.read())
    place = 0
    while place + HEADER.size <= len(log):
        step = Step()
        (
            step.begin,
            step.end,
            step.inode,
            step.offset,
            length,
            step.pid,
            what,
            step.is_durable,
            name_length,
            other_length,
            _,
        ) = HEADER.unpack_from(log, place)
        place += HEADER.size
        step.what = chr(what)
        step.name = bytes(log[place : place + name_length]).decode()
        place += name_length
        step.other = bytes(log[place : place + other_length]).decode()
        place += other_length
        step.data = log[place : place + length]
        place += length
        step.durable_at = math.inf
        steps.append(step)
    steps.sort(key=lambda step: step.begin)
    return steps


def read_directory(path):
    """Names and inodes of a data directory whose server is stopped."""
    names, inodes = {}, {}
    for directory, _, files in os.walk(path):
        name = os.path.relpath(directory, path)
        names[name] = inodes[os.stat(directory).st_ino] = Directory()
        for each in files:
            if is_left_out(each):
                continue
            whole = os.path.join(directory, each)
            with open(whole, "rb") as file:
                content = file.read()
            entry = File(content)
            inodes[os.stat(whole).st_ino] = entry
            names[os.path.normpath(os.path.join(name, each))] = entry
    return names, inodes


class Disk:
    """What is on it as time goes by; advance() to a time, then make images of it.

    names and inodes are those of before the recording, from read_directory; the files are
    changed.  pretends(step, name) says that a sync only pretends to be one; is_special(name), which
    files special is to have.
    """

    def __init__(self, names, inodes, steps, pretends, is_special):
        self.names = names
        self.steps = []
        self.journal = []
        self.next_step = self.committed = 0
        self.pending_files = set()
        self.special = {}
        self._resolve(dict(names), dict(inodes), steps, pretends, is_special)
        self.begins = [step.begin for step in self.steps]

    # ---- what is read before ----

    def _resolve(self, names, inodes, steps, pretends, is_special):
        """Finds each step's file, and the time when it is certainly on the disk."""
        paths = {file: name for name, file in names.items()}
        for step in steps:
            file = self._file_of(step, names, inodes)
            if step.what in "SF":
                synced = set(inodes.values()) if step.what == "F" else {file}
                for each in synced - {None}:
                    if pretends is None or not pretends(step, paths.get(each, "")):
                        self._sync(each, step.begin, step.end)
                continue
            if file is None:
                continue
            step.file = file
            step.number = None
            if step.is_journaled():
                step.number = len(self.journal)
                self.journal.append(step)
            if step.changes_names():
                step.apply_to_names(names)
                paths[file] = step.other or step.name
                if is_special(paths[file]):
                    self.special[file] = paths[file]
                for name in filter(None, (step.name, step.other)):
                    parent = names.get(os.path.dirname(name) or ".")
                    if parent is not None:
                        parent.waiting.append(step)
            file.waiting.append(step)
            self.steps.append(step)
            if step.is_durable:
                step.durable_at = step.end
                for each in file.waiting:
                    if each.is_journaled() and each.end < step.begin:
                        each.durable_at = min(each.durable_at, step.end)
        sooner = math.inf
        for step in reversed(self.journal):
            sooner = step.durable_at = min(step.durable_at, sooner)

    def _file_of(self, step, names, inodes):
        """The file or directory of a step; None if it is not in the data directory."""
        if is_left_out(step.name) or is_left_out(step.other):
            return None
        if step.what in "CM":
            file = inodes[step.inode] = File() if step.what == "C" else Directory()
            return file
        if step.changes_names():
            return names.get(step.name)
        return inodes.get(step.inode)

    @staticmethod
    def _sync(file, begin, end):
        left = []
        for step in file.waiting:
            if step.end < begin:
                step.durable_at = min(step.durable_at, end)
            else:
                left.append(step)
        file.waiting = left

    # ---- as time goes by ----

    def advance(self, time):
        """Applies the steps that have begun before that time."""
        until = bisect.bisect_left(self.begins, time)
        for step in self.steps[self.next_step : until]:
            if not step.changes_names():
                step.file.queue.append(step)
                self.pending_files.add(step.file)
        self.next_step = until
        while self.committed < len(self.journal):
            step = self.journal[self.committed]
            if step.durable_at > time:
                break
            if step.changes_names():
                step.apply_to_names(self.names)
            self.committed += 1
        for file in list(self.pending_files):
            done = 0
            while done < len(file.queue) and file.queue[done].durable_at <= time:
                file.queue[done].apply(file.content)
                done += 1
            del file.queue[:done]
            if not file.queue:
                self.pending_files.remove(file)
        self.time = time

    def unsynced_writes(self):
        return sorted(
            (
                step
                for file in self.pending_files
                for step in file.queue
                if step.what == "W" and step.durable_at > self.time
            ),
            key=lambda step: step.begin,
        )

    def unsynced_journal(self):
        """The number of journal entries that have begun and need not be there."""
        begun = self.committed
        while begun < len(self.journal) and self.journal[begun].begin < self.time:
            begun += 1
        return begun - self.committed

    def image(self, path, chosen, journaled):
        """Writes the directory as it would be after the loss.  chosen are the unsynced writes
        that are there, each with its sectors or None for all; journaled is the number of
        unsynced journal entries."""
        names = dict(self.names)
        journaled += self.committed
        for step in self.journal[self.committed : journaled]:
            if step.changes_names():
                step.apply_to_names(names)
        for name, file in sorted(names.items()):
            if isinstance(file, Directory):
                os.makedirs(os.path.join(path, name), mode=0o700, exist_ok=True)
        for name, file in names.items():
            if not isinstance(file, Directory):
                with open(os.path.join(path, name), "wb") as output:
                    output.write(self._content(file, chosen, journaled))
        os.chmod(path, 0o700)

    def differences(self, path):
        """The names of files that differ from a directory in which all steps are done: changes
        to them were not recorded."""
        self.advance(math.inf)
        everything = dict.fromkeys(self.unsynced_writes())
        for step in self.journal[self.committed :]:
            if step.changes_names():
                step.apply_to_names(self.names)
        there, _ = read_directory(path)
        return [
            name
            for name in there.keys() | self.names.keys()
            if name not in there
            or name not in self.names
            or there[name].content != self._content(self.names[name], everything, len(self.journal))
        ]

    def _content(self, file, chosen, journaled):
        if file not in self.pending_files:
            return file.content
        content = bytearray(file.content)
        for step in file.queue:
            if step.number is not None:
                if step.number < journaled:
                    step.apply(content)
            elif step.durable_at <= self.time:
                step.apply(content)
            elif step in chosen:
                step.apply(content, chosen[step])
        return content


# ---- which of them ----


def torn(step, chance, size):
    """Chooses some sectors of a write."""
    return [
        (first, min(first + size, len(step.data)))
        for first in range(0, len(step.data), size)
        if chance.random() < 0.5
    ]


def choose(disk, chance, kind):
    """Chooses the unsynced writes and the number of journal entries that are there."""
    writes = disk.unsynced_writes()
    journal = disk.unsynced_journal()
    journaled = chance.choice((0, journal, chance.randint(0, journal)))
    if kind == "nothing":
        return {}, 0
    if kind == "everything":
        return dict.fromkeys(writes), journal
    if kind == "prefix":
        return dict.fromkeys(writes[: chance.randint(0, len(writes))]), journaled
    if kind == "files":
        kept = {file for file in disk.pending_files if chance.random() < 0.5}
        return {step: None for step in writes if step.file in kept}, journaled
    likely = chance.choice((0.1, 0.5, 0.9))
    chosen = {step: None for step in writes if chance.random() < likely}
    if kind == "torn":
        size = chance.choice((SECTOR, SECTOR, 4096))
        for step in chosen:
            if chance.random() < 0.7:
                chosen[step] = torn(step, chance, size)
    return chosen, journaled


KINDS = ("nothing", "everything", "prefix", "files", "subset", "torn", "torn")
