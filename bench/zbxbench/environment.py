"""Where a result comes from: machine, versions, revision; never a path."""

import datetime
import os
import pathlib
import platform
import shutil
import subprocess

import matplotlib
import psycopg2

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BENCH = REPOSITORY / "bench"


def memory_mb():
    """The machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20


def _cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _os_name():
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.system()


def machine():
    """CPU, memory, kernel and distribution, and how busy the machine is."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory_mb() / 1024, 1),
        "kernel": platform.release(),
        "os": _os_name(),
        "load_average": [round(load, 1) for load in os.getloadavg()],
    }


def git_revision():
    """The commit that is measured, marked if tracked files differ from it; "unknown" without
    git."""

    def git(*arguments):
        command = ["git", "-c", "safe.directory=*", "-C", str(REPOSITORY)] + list(arguments)
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    if not shutil.which("git"):
        return "unknown"
    revision = git("rev-parse", "--short=12", "HEAD") or "unknown"
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "sql", "Makefile")
    return revision + ("+changes" if changed else "")


def pg_config(program, what):
    """An answer of pg_config."""
    return subprocess.run(
        [program, "--" + what], capture_output=True, text=True, check=True
    ).stdout.strip()


def versions(cluster):
    """Versions of everything that takes part."""
    rows = cluster.execute(
        "SELECT name, default_version FROM pg_available_extensions "
        "WHERE name IN ('zbxhist', 'pg_partman', 'timescaledb')"
    )
    found = {
        "postgresql": cluster.execute("SHOW server_version")[0][0],
        "python": platform.python_version(),
        "psycopg2": psycopg2.__version__.split()[0],
        "matplotlib": matplotlib.__version__,
    }
    found.update(dict(rows))
    found.update((peer.NAME, peer.version()) for peer in cluster.peers.values())
    return found


def description(cluster, command_line):
    """The head of every result file."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "command": command_line,
        "git_revision": git_revision(),
        "machine": machine(),
        "versions": versions(cluster),
        "settings": cluster.settings,
        "settings_of_peers": {peer.NAME: peer.settings for peer in cluster.peers.values()},
    }


def build(directory, *arguments):
    """Builds one of the benchmark's own programs with make."""
    done = subprocess.run(
        ["make", "-s", "-C", str(directory)] + list(arguments),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(
            "make in bench/%s failed:\n%s%s" % (directory.name, done.stdout, done.stderr)
        )
