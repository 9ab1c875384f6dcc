"""A server's clock that shows simulated time: a library of the tests, and a file
that the server has mapped."""

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
    """Set forward step by step; between two steps it goes as the real one.

    Maintenance decides by the server's clock what is due, so that clock has to
    show the time which the values have.
    """

    def __init__(self, base="/var/tmp"):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="zbxbench.", dir=base))
        self.directory.chmod(0o755)
        self.library = self.directory / "clock.so"
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-O2", "-o", str(self.library), str(SOURCE)], check=True
        )
        # how many seconds the clock is ahead of the real one
        self.path = self.directory / "clock"
        self.moment = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        shutil.rmtree(self.directory, ignore_errors=True)

    def set(self, moment):
        """Shows this moment, in seconds since 1970, to every session at once.

        It, or up to a second later: what is due at this moment, is.
        """
        self.moment = moment
        ahead = struct.pack("=q", math.ceil(moment - time.time()))
        # in place: the server has mapped it
        with open(self.path, "r+b" if self.path.exists() else "wb") as file:
            file.write(ahead)
        self.path.chmod(0o644)

    def check(self, connection):
        """Raises if a session does not go by it."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
            if abs(cursor.fetchone()[0] - self.moment) > DAY:
                raise RuntimeError("the server does not go by the simulated clock")

    def environment(self):
        """What a server is started with to go by it; only the time of day is simulated."""
        return {"LD_PRELOAD": str(self.library), "ZBXHIST_CLOCK": str(self.path)}
