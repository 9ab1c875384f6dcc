"""Child processes: every one is known here, so that none outlives the run."""

import os
import pwd
import random
import signal
import socket
import subprocess
import time


class Failure(Exception):
    """A failure that ends the scenario."""


_children = []


def drop_privileges():
    """PostgreSQL refuses to run as root, and nothing here needs it."""
    if os.geteuid() != 0:
        return
    user = pwd.getpwnam("postgres")
    os.initgroups(user.pw_name, user.pw_gid)
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
    os.environ.update(HOME=user.pw_dir, USER=user.pw_name, LOGNAME=user.pw_name)


def interrupted(signum, frame):
    """Turns a signal into an ordinary exit, which cleans up."""
    raise SystemExit(128 + signum)


def run(argv, check=True, **options):
    """Runs a command to its end and returns (exit code, output)."""
    options.setdefault("timeout", 300)
    options.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        **options,
    )
    if check and done.returncode != 0:
        raise Failure(
            f"{' '.join(map(str, argv))}: exit code " f"{done.returncode}\n{done.stdout[-4000:]}"
        )
    return done.returncode, done.stdout


def start(argv, log, **options):
    """Starts a daemon in the foreground of its own session: a Ctrl-C in the
    terminal then reaches us alone, and we stop things in the right order."""
    with open(log, "ab") as out:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            **options,
        )
    _children.append(child)
    return child


def adopt(child):
    """A daemon that was started elsewhere in a session of its own."""
    _children.append(child)


def stop(child, sig=signal.SIGTERM, timeout=90):
    """Stops a daemon; True if it ended by itself."""
    if child.poll() is None:
        child.send_signal(sig)
    try:
        child.wait(timeout)
        graceful = True
    except subprocess.TimeoutExpired:
        _kill_group(child)
        graceful = False
    if child in _children:
        _children.remove(child)
    return graceful


def _kill_group(child):
    """Kills a daemon and what it forked (it leads its own session)."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


def stop_all():
    """Stops everything that still runs, the latest first."""
    for child in reversed(list(_children)):
        stop(child, timeout=20)


def wait_for(what, condition, timeout=60, pause=0.2):
    """Polls until condition() is true; a Failure names what did not come."""
    end = time.monotonic() + timeout
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise Failure(f"timed out after {timeout} s waiting for {what}")
        time.sleep(pause)


def free_port():
    """A TCP port of the loopback interface nobody listens on now.  Zabbix
    wants it below 32768, so the kernel cannot choose it."""
    for port in random.sample(range(20000, 32000), 200):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise Failure("no free port")


def tail(path, lines=25):
    """The end of a log, for diagnostics."""
    try:
        with open(path, errors="replace") as log:
            return "".join(log.readlines()[-lines:])
    except OSError as error:
        return str(error)
