"""A private Cassandra node, from the jars in Maven Central."""
import functools
import glob
import os
import re
import shutil
import socket
import subprocess

from . import cql, environment
from .peer import Peer
from .progress import say

SOURCE = environment.BENCH / "cassandra"
JARS = SOURCE / "jars"
FETCH_SECONDS = 300

# of conf/jvm17-server.options in Cassandra's distribution
EXPORTS = ("java.base/jdk.internal.misc", "java.base/jdk.internal.ref", "java.base/sun.nio.ch",
           "java.management.rmi/com.sun.jmx.remote.internal.rmi", "java.rmi/sun.rmi.registry",
           "java.rmi/sun.rmi.server", "java.sql/java.sql", "java.base/java.lang.ref",
           "jdk.unsupported/sun.misc")
OPENS = ("java.base/java.lang.module", "java.base/jdk.internal.loader",
         "java.base/jdk.internal.ref", "java.base/jdk.internal.reflect",
         "java.base/jdk.internal.math", "java.base/jdk.internal.module",
         "java.base/jdk.internal.util.jar", "jdk.management/com.sun.management.internal",
         "java.base/sun.nio.ch", "java.base/java.io", "java.base/java.lang",
         "java.base/java.lang.reflect", "java.base/java.util",
         "java.base/java.util.concurrent", "java.base/java.util.concurrent.atomic",
         "java.base/java.nio", "java.rmi/sun.rmi.transport.tcp")


@functools.lru_cache(maxsize=None)
def java():
    """A Java which Cassandra 5 supports, 17 or 11; None when there is none."""
    for version in (17, 11):
        for path in sorted(glob.glob("/usr/lib/jvm/java-%d-openjdk*/bin/java" % version)):
            return path
    path = shutil.which("java")
    if path:
        told = subprocess.run([path, "-version"], capture_output=True, text=True, check=False)
        if re.search(r'version "(17|11)\.', told.stderr):
            return path
    return None


def has_jars():
    """Whether the jars of the version in pom.xml are there."""
    wanted = re.search(r"<artifactId>(cassandra-all)</artifactId>\s*<version>([^<]*)<",
                       (SOURCE / "pom.xml").read_text(encoding="utf-8"))
    return (JARS / ("%s-%s.jar" % wanted.groups())).exists()


@functools.lru_cache(maxsize=None)
def fetch_jars():
    """Fetches the jars once; returns why that failed, or None."""
    if has_jars():
        return None
    if not shutil.which("mvn"):
        return "the package maven is not installed"
    say("fetching Cassandra from Maven Central into bench/cassandra/jars (70 MB) ...")
    partial = SOURCE / "jars.partial"
    shutil.rmtree(partial, ignore_errors=True)
    try:
        done = subprocess.run(
            ["mvn", "-B", "-q", "-f", str(SOURCE / "pom.xml"), "dependency:copy-dependencies",
             "-DoutputDirectory=" + str(partial)], stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=FETCH_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "Maven Central did not deliver it within %d s" % FETCH_SECONDS
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if "ERROR" in line]
        return "mvn could not fetch it: " + (lines[0] if lines else done.stdout[-200:])
    shutil.rmtree(JARS, ignore_errors=True)
    partial.rename(JARS)
    return None


def _free_port():
    """A port of loopback that nobody listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class CassandraServer(Peer):
    """One node on loopback."""
    NAME = "cassandra"
    START_SECONDS = 120

    def __init__(self, base="/var/tmp"):
        super().__init__(base)
        self.port = self.jmx_port = None

    @classmethod
    def missing(cls):
        """Why there can be no server; None when there can."""
        if not java():
            return "Java 17 or 11 is not installed"
        return fetch_jars()

    @property
    def heap_mb(self):
        """By cassandra-env.sh: a quarter of the memory, 8 GB at most."""
        return min(environment.memory_mb() // 4, 8192)

    @property
    def settings(self):
        lines = (SOURCE / "cassandra.yaml").read_text(encoding="utf-8").splitlines()
        return {"heap": "%dMB" % self.heap_mb,
                "cassandra.yaml": "; ".join(line.strip() for line in lines
                                            if line.strip() and not line.startswith("#"))}

    def _fill(self, name, values):
        """Copies one of the configuration files, with the values for its names."""
        text = (SOURCE / name).read_text(encoding="utf-8")
        for key, value in values.items():
            text = text.replace("@%s@" % key, str(value))
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o644)

    def prepare(self):
        self.port, self.jmx_port = _free_port(), _free_port()
        self._fill("cassandra.yaml", {
            "directory": self.directory, "native_port": self.port,
            "storage_port": _free_port(), "writes": 8 * os.cpu_count()})
        self._fill("logback.xml", {})

    def _java(self):
        """Java with what its tools and the server both need."""
        modules = ["--add-exports=%s=ALL-UNNAMED" % name for name in EXPORTS]
        modules += ["--add-opens=%s=ALL-UNNAMED" % name for name in OPENS]
        return [java()] + modules + [
            "-Djava.io.tmpdir=%s" % self.directory, "-Dcassandra.storagedir=%s" % self.directory,
            "-Dcassandra.config=file://%s/cassandra.yaml" % self.directory,
            "-Dlogback.configurationFile=%s/logback.xml" % self.directory,
            "-cp", str(JARS / "*")]

    def command(self):
        memory = "%dM" % self.heap_mb
        return self._java() + [
            "-javaagent:" + glob.glob(str(JARS / "jamm-*.jar"))[0],
            "-Xms" + memory, "-Xmx" + memory, "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=300",
            "-XX:+ExitOnOutOfMemoryError", "-Djdk.attach.allowAttachSelf=true",
            "-Dcassandra-foreground=yes", "-Dcassandra.ring_delay_ms=0",
            "-Dcassandra.skip_wait_for_gossip_to_settle=0",
            "-Dcassandra.jmx.local.port=%d" % self.jmx_port,
            "org.apache.cassandra.service.CassandraDaemon"]

    def is_ready(self):
        try:
            self.connect().close()
            return True
        except (OSError, cql.Error):
            return False

    def connect(self):
        """A connection."""
        return cql.Connection("127.0.0.1", self.port)

    def execute(self, text):
        """Runs one statement; returns its rows."""
        connection = self.connect()
        try:
            return list(connection.execute(text))
        finally:
            connection.close()

    def nodetool(self, *words):
        """Cassandra's own tool."""
        self.run(self._java() + ["org.apache.cassandra.tools.NodeTool",
                                 "-p", str(self.jmx_port)] + list(words))

    def version(self):
        return self.execute("SELECT release_version FROM system.local")[0][0]
