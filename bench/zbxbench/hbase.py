"""A private HBase, standalone, from the jars in Maven Central."""

import json
import subprocess

from . import environment, maven
from .cluster import ServerError

SOURCE = environment.BENCH / "hbase"
JARS = SOURCE / "jars"

# of bin/hbase in its distribution, for Java 11 and later
OPENS = (
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.reflect",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.security.action",
)
EXPORTS = (
    "java.base/jdk.internal.misc",
    "java.base/sun.net.dns",
    "java.base/sun.net.util",
    "java.security.jgss/sun.security.krb5",
)


class HbaseServer(maven.JavaServer):
    """Master, region server and ZooKeeper in one process on loopback."""

    NAME = "hbase"
    SOURCE = SOURCE

    @property
    def settings(self):
        return {"heap": "%dMB" % self.heap_mb, "durability": "ASYNC_WAL"}

    def prepare(self):
        maven.fill(
            SOURCE / "hbase-site.xml",
            self.directory / "hbase-site.xml",
            {
                "directory": self.directory,
                "zookeeper_port": maven.free_port(),
                "master_port": maven.free_port(),
                "region_port": maven.free_port(),
            },
        )
        maven.fill(SOURCE / "log4j.properties", self.directory / "log4j.properties", {})

    def _java(self, *options):
        return (
            [maven.java()]
            + maven.modules(OPENS, EXPORTS)
            + list(options)
            + [
                "-Djava.io.tmpdir=%s" % self.directory,
                "-cp",
                "%s:%s:%s" % (self.directory, maven.classes(SOURCE), JARS / "*"),
            ]
        )

    def command(self):
        memory = "%dM" % self.heap_mb
        return self._java(
            "-Xms" + memory, "-Xmx" + memory, "-XX:+UseG1GC", "-XX:+ExitOnOutOfMemoryError"
        ) + ["org.apache.hadoop.hbase.master.HMaster", "start"]

    def loader(self, table):
        """The command line of the loader for a table, but for its options."""
        return self._java("-Xmx1G") + ["HbaseLoader", "--table=" + table]

    def administrate(self, table, option):
        """Has the loader create, clean or drop a table; returns what it prints."""
        done = subprocess.run(
            self.loader(table) + [option], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise ServerError("hbase: %s of %s failed: %s" % (option, table, done.stderr[-2000:]))
        return json.loads(done.stdout) if done.stdout else None

    def is_ready(self):
        """The master has initialized when a table can be made: its client waits for that."""
        done = subprocess.run(
            self.loader("ready") + ["--create"],
            capture_output=True,
            timeout=self.START_SECONDS,
            check=False,
        )
        return done.returncode == 0

    def version(self):
        jar = next(JARS.glob("hbase-server-*.jar"))
        return jar.stem.replace("hbase-server-", "")
