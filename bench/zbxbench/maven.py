"""Servers from Maven Central: a Java to run them, and their jars, fetched once."""

import functools
import glob
import os
import re
import shutil
import socket
import subprocess

from . import environment
from .peer import Peer
from .progress import say

FETCH_SECONDS = 400


@functools.lru_cache(maxsize=None)
def java():
    """A Java which Cassandra 5 and HBase 2.6 support, 17 or 11; None when there is none."""
    for version in (17, 11):
        for path in sorted(glob.glob("/usr/lib/jvm/java-%d-openjdk*/bin/java" % version)):
            return path
    path = shutil.which("java")
    if path:
        told = subprocess.run([path, "-version"], capture_output=True, text=True, check=False)
        if re.search(r'version "(17|11)\.', told.stderr):
            return path
    return None


def modules(opened, exported=()):
    """Java's options for a server that reaches into its insides."""
    return ["--add-opens=%s=ALL-UNNAMED" % name for name in opened] + [
        "--add-exports=%s=ALL-UNNAMED" % name for name in exported
    ]


def free_port():
    """A port of loopback that nobody listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _has_jars(source):
    """Whether the jar of the first dependency in pom.xml is there, in its version."""
    wanted = re.search(
        r"<dependency>.*?<artifactId>([^<]*)</artifactId>\s*<version>([^<]*)<",
        (source / "pom.xml").read_text(encoding="utf-8"),
        re.DOTALL,
    )
    return (source / "jars" / ("%s-%s.jar" % wanted.groups())).exists()


@functools.lru_cache(maxsize=None)
def fetch_jars(source):
    """Fetches what a directory's pom.xml wants; returns why that failed, or None."""
    if _has_jars(source):
        return None
    if not shutil.which("mvn"):
        return "the package maven is not installed"
    say("fetching %s from Maven Central into bench/%s/jars ..." % (source.name, source.name))
    partial = source / "jars.partial"
    shutil.rmtree(partial, ignore_errors=True)
    try:
        done = subprocess.run(
            [
                "mvn",
                "-B",
                "-q",
                "-f",
                str(source / "pom.xml"),
                "dependency:copy-dependencies",
                "-DincludeScope=runtime",
                "-DoutputDirectory=" + str(partial),
            ],
            stdin=subprocess.DEVNULL,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=FETCH_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "Maven Central did not deliver it within %d s" % FETCH_SECONDS
    if done.returncode != 0:
        shutil.rmtree(partial, ignore_errors=True)
        said = re.search(r"\[ERROR\] (.*)", done.stdout)
        return "mvn could not fetch it: " + (said.group(1) if said else done.stdout)[:200]
    shutil.rmtree(source / "jars", ignore_errors=True)
    partial.rename(source / "jars")
    return None


def classes(source):
    """Where a directory's own Java classes go."""
    return source / "classes"


def compile_java(source):
    """Compiles a directory's own sources when they are newer; returns why not, or None."""
    sources = sorted(source.glob("*.java"))
    made = classes(source) / (sources[0].stem + ".class")
    if made.exists() and made.stat().st_mtime > max(path.stat().st_mtime for path in sources):
        return None
    compiler = os.path.join(os.path.dirname(os.path.realpath(java())), "javac")
    if not os.path.exists(compiler):
        return "the package openjdk-17-jdk-headless is not installed: there is no javac"
    shutil.rmtree(classes(source), ignore_errors=True)
    done = subprocess.run(
        [compiler, "-nowarn", "-cp", str(source / "jars" / "*"), "-d", str(classes(source))]
        + [str(path) for path in sources],
        capture_output=True,
        text=True,
        check=False,
    )
    return "its sources do not compile: " + done.stderr[-500:] if done.returncode else None


class JavaServer(Peer):
    """A server that runs in Java; SOURCE is the directory with its pom.xml."""

    SOURCE = None
    START_SECONDS = 120

    @classmethod
    def missing(cls):
        """Why there can be no server; None when there can."""
        if not java():
            return "Java 17 or 11 is not installed"
        return fetch_jars(cls.SOURCE) or compile_java(cls.SOURCE)

    @property
    def heap_mb(self):
        """As the other servers have for their caches: a quarter of the memory, 8 GB at most."""
        return min(environment.memory_mb() // 4, 8192)


def fill(source, target, values):
    """Copies a configuration file, with the values for its @names@."""
    text = source.read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace("@%s@" % key, str(value))
    target.write_text(text, encoding="utf-8")
    target.chmod(0o644)
