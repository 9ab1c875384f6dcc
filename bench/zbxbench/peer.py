"""Servers of other databases, private ones, started for a run and removed after it."""

import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

from . import counters
from .cluster import SUPERUSER, ServerError


# the nice value of a session with four times the share (weight 3906 instead of 1024)
SHARE_OF_BACKENDS = "-6"


def raise_share(pid):
    """Asks for as much CPU as PostgreSQL's backends get.

    Linux's scheduler gives each session one share (autogroup).  Each of PostgreSQL's processes is a
    session; all threads or processes of this server are one, which on a busy machine would get only
    a fraction.
    """
    try:
        pathlib.Path("/proc/%d/autogroup" % pid).write_text(SHARE_OF_BACKENDS, encoding="ascii")
    except OSError:
        pass  # the kernel has no autogroups, or we may not set them; see README.md


class Peer:
    """A server with its own directory and process group.

    A subclass has NAME, prepare(), which makes the data directory, command(), which returns the
    server's command line, and is_ready().
    """

    NAME = ""
    START_SECONDS = 60

    def __init__(self, base="/var/tmp"):
        self.base = base
        self.directory = None
        self.process = None

    @property
    def settings(self):
        """The server's settings, for the result file."""
        return {}

    def start(self):
        """Makes the data directory, starts the server, and waits until it answers."""
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="zbxbench.", dir=self.base))
        try:
            if os.geteuid() == 0:
                user = pwd.getpwnam(SUPERUSER)
                os.chown(self.directory, user.pw_uid, user.pw_gid)
            self.prepare()
            self.process = self._popen(self.command(), self.log_path)
            raise_share(self.process.pid)
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def stop(self):
        """Ends the server and removes everything that it has written."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.process = None
        if self.directory is not None:
            shutil.rmtree(self.directory, ignore_errors=True)
        self.directory = None

    def prepare(self):
        """Makes the data directory and the configuration."""
        raise NotImplementedError

    def command(self):
        """The server's command line; it must stay in the foreground."""
        raise NotImplementedError

    def is_ready(self):
        """Does the server answer yet?"""
        raise NotImplementedError

    def version(self):
        """The server's version."""
        raise NotImplementedError

    @property
    def log_path(self):
        """The server's log."""
        return self.directory / "log"

    def cpu(self):
        """CPU seconds of the whole server, all its threads."""
        return counters.threads_cpu(self.process.pid)

    def environment(self):
        """Environment variables of the server."""
        return dict(os.environ, HOME=str(self.directory), TMPDIR=str(self.directory))

    def _popen(self, command, log_path, stream=subprocess.DEVNULL):
        """Starts a command as the user who runs the PostgreSQL servers."""
        as_user = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam(SUPERUSER)
            as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        with open(log_path, "ab") as log:
            return subprocess.Popen(
                command,
                cwd=self.directory,
                stdin=stream,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=self.environment(),
                **as_user,
            )

    def run(self, command, stream=subprocess.DEVNULL):
        """Runs a command of the preparation; stream is its standard input."""
        process = self._popen(command, self.log_path, stream)
        try:
            if process.wait() != 0:
                raise self._failure("%s failed" % os.path.basename(command[0]))
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _failure(self, what):
        return ServerError(
            "%s: %s\n%s" % (self.NAME, what, self.log_path.read_text(errors="replace")[-2000:])
        )

    def _wait_until_ready(self):
        deadline = time.monotonic() + self.START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise self._failure("the server ended")
            if self.is_ready():
                return
            time.sleep(0.1)
        raise self._failure("the server does not answer")
