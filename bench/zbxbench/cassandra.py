"""A private Cassandra node, from the jars in Maven Central."""

import glob
import os

from . import cql, environment, maven

SOURCE = environment.BENCH / "cassandra"
JARS = SOURCE / "jars"

# of conf/jvm17-server.options in Cassandra's distribution
EXPORTS = (
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.sql/java.sql",
    "java.base/java.lang.ref",
    "jdk.unsupported/sun.misc",
)
OPENS = (
    "java.base/java.lang.module",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.util.jar",
    "jdk.management/com.sun.management.internal",
    "java.base/sun.nio.ch",
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.reflect",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/java.nio",
    "java.rmi/sun.rmi.transport.tcp",
)


class CassandraServer(maven.JavaServer):
    """One node on loopback."""

    NAME = "cassandra"
    SOURCE = SOURCE

    def __init__(self, base="/var/tmp"):
        super().__init__(base)
        self.port = self.jmx_port = None

    @property
    def settings(self):
        lines = (SOURCE / "cassandra.yaml").read_text(encoding="utf-8").splitlines()
        return {
            "heap": "%dMB" % self.heap_mb,
            "cassandra.yaml": "; ".join(
                line.strip() for line in lines if line.strip() and not line.startswith("#")
            ),
        }

    def prepare(self):
        self.port, self.jmx_port = maven.free_port(), maven.free_port()
        maven.fill(
            SOURCE / "cassandra.yaml",
            self.directory / "cassandra.yaml",
            {
                "directory": self.directory,
                "native_port": self.port,
                "storage_port": maven.free_port(),
                "writes": 8 * os.cpu_count(),
            },
        )
        maven.fill(SOURCE / "logback.xml", self.directory / "logback.xml", {})

    def _java(self):
        """Java with what its tools and the server both need."""
        return (
            [maven.java()]
            + maven.modules(OPENS, EXPORTS)
            + [
                "-Djava.io.tmpdir=%s" % self.directory,
                "-Dcassandra.storagedir=%s" % self.directory,
                "-Dcassandra.config=file://%s/cassandra.yaml" % self.directory,
                "-Dlogback.configurationFile=%s/logback.xml" % self.directory,
                "-cp",
                "%s:%s" % (maven.classes(SOURCE), JARS / "*"),
            ]
        )

    def command(self):
        memory = "%dM" % self.heap_mb
        return self._java() + [
            "-javaagent:" + glob.glob(str(JARS / "jamm-*.jar"))[0],
            "-Xms" + memory,
            "-Xmx" + memory,
            "-XX:+UseG1GC",
            "-XX:MaxGCPauseMillis=300",
            "-XX:+ExitOnOutOfMemoryError",
            "-Djdk.attach.allowAttachSelf=true",
            "-Dcassandra-foreground=yes",
            "-Dcassandra.ring_delay_ms=0",
            "-Dcassandra.skip_wait_for_gossip_to_settle=0",
            "-Dcassandra.jmx.local.port=%d" % self.jmx_port,
            "org.apache.cassandra.service.CassandraDaemon",
        ]

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
        self.run(
            self._java()
            + ["org.apache.cassandra.tools.NodeTool", "-p", str(self.jmx_port)]
            + list(words)
        )

    def load(self, keyspace, table, definition, columns, stream):
        """Adds the rows of COPY text; columns are its (name, type), the second is the clock.

        Files are written beside the server and imported, and not merged with others.
        """
        directory = self.directory / "load" / table
        self.run(["mkdir", "-p", str(directory)])
        names = [name for name, _ in columns] + ["day"]
        insert = "INSERT INTO %s.%s (%s) VALUES (%s)" % (
            keyspace,
            table,
            ", ".join(names),
            ", ".join("?" for _ in names),
        )
        self.run(
            self._java()
            + [
                "-Xmx%dM" % (self.heap_mb // 2),
                "SstableWriter",
                str(directory),
                definition,
                insert,
                ",".join(kind for _, kind in columns),
            ],
            stream,
        )
        self.nodetool("import", "--quick", keyspace, table, str(directory))

    def version(self):
        return self.execute("SELECT release_version FROM system.local")[0][0]
