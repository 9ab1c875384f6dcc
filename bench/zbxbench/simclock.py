"""A clock with simulated time for servers: a library of the tests, and a file that the server
has mapped."""

import math
import pathlib
import shutil
import struct
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(__file__).parents[2] / "test" / "clock" / "clock.c"
DAY = 86400


class SimulatedClock:
    """A clock that is set forward step by step; between two steps it runs like the real one.

    Maintenance uses the server's clock to decide what is due, so it must show the time of the
    values.
    """

    def __init__(self, base="/var/tmp"):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="zbxbench.", dir=base))
        self.directory.chmod(0o755)
        self.library = self.directory / "clock.so"
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-O2", "-o", str(self.library), str(SOURCE)], check=True
        )
        # by how many seconds the clock is ahead of the real one
        self.path = self.directory / "clock"
        self.moment = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        shutil.rmtree(self.directory, ignore_errors=True)

    def set(self, moment):
        """Sets the clock of all sessions at once to this moment, in seconds since 1970.

        It may be up to a second ahead, so that what is due at this moment is due.
        """
        self.moment = moment
        ahead = struct.pack("=q", math.ceil(moment - time.time()))
        # in place, because the server has mapped the file
        with open(self.path, "r+b" if self.path.exists() else "wb") as file:
            file.write(ahead)
        self.path.chmod(0o644)

    def check(self, connection):
        """Raises an error if a session does not use it."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
            if abs(cursor.fetchone()[0] - self.moment) > DAY:
                raise RuntimeError("the server does not go by the simulated clock")

    def environment(self):
        """The environment with which a server uses it; only the time of day is simulated."""
        return {"LD_PRELOAD": str(self.library), "ZBXHIST_CLOCK": str(self.path)}
