"""A server's clock that shows simulated time: libfaketime, and a file it reads."""

import glob
import os
import pathlib
import shutil
import tempfile
import time

LIBRARY = "/usr/lib/*/faketime/libfaketime.so.1"

# a process looks into the file when a second has passed since it did
PATIENCE = 30


class SimulatedClock:
    """Set forward step by step; between two steps it goes as the real one.

    Maintenance decides by the server's clock what is due, so that clock has to
    show the time which the values have.
    """

    def __init__(self, base="/var/tmp"):
        self.library = next(iter(glob.glob(LIBRARY)), None)
        if self.library is None:
            raise RuntimeError(
                "libfaketime is not installed: the server could not be given the "
                "clock of the simulated day (apt-get install libfaketime)"
            )
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="zbxbench.", dir=base))
        self.directory.chmod(0o755)
        self.moment = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        shutil.rmtree(self.directory, ignore_errors=True)

    @property
    def path(self):
        """How many seconds the clock is ahead of the real one."""
        return self.directory / "clock"

    def set(self, moment):
        """Shows this moment, in seconds since 1970."""
        self.moment = moment
        following = self.directory / "clock.new"
        following.write_text("%+d\n" % round(moment - time.time()), encoding="ascii")
        following.chmod(0o644)
        os.replace(following, self.path)

    def wait(self, connection):
        """Waits until a session goes by the new time."""
        deadline = time.monotonic() + PATIENCE
        with connection.cursor() as cursor:
            while time.monotonic() < deadline:
                cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
                if cursor.fetchone()[0] >= self.moment - 1:
                    return
                time.sleep(0.1)
        raise RuntimeError("the server does not go by the simulated clock")

    def environment(self):
        """What a server is started with to go by it; only the time of day is simulated."""
        return {
            "LD_PRELOAD": self.library,
            "FAKETIME_TIMESTAMP_FILE": str(self.path),
            "FAKETIME_CACHE_DURATION": "0",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }
