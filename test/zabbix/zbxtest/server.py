"""zabbix_server and zabbix_sender."""

import re
import subprocess

from . import proc

CONFIG = """
DBHost={cluster.host}
DBPort={cluster.port}
DBName={database}
DBUser=zabbix
ListenIP=127.0.0.1
ListenPort={port}
LogType=file
LogFile={log}
LogFileSize=0
PidFile={directory}/server.pid
SocketDir={directory}
StartPollers=1
StartPollersUnreachable=1
StartPingers=0
StartDiscoverers=0
StartHTTPPollers=0
StartTrappers=2
StartPreprocessors=1
StartAlerters=1
StartTimers=1
StartEscalators=1
StartLLDProcessors=1
StartDBSyncers=2
StartHistoryPollers=1
HousekeepingFrequency=0
CacheUpdateFrequency=3600
AllowUnsupportedDBVersions=1
LogSlowQueries=10000
Timeout=10
"""


def configuration(settings=None, **places):
    """The text of a configuration file: places fill in CONFIG, settings replace and add
    lines."""
    settings = settings or {}
    lines = CONFIG.format(**places).strip().splitlines()
    lines = [line for line in lines if line.split("=")[0] not in settings]
    return "\n".join(lines + ["%s=%s" % pair for pair in settings.items()]) + "\n"


class Server:
    """One zabbix_server on one database."""

    def __init__(self, release, cluster, database, directory):
        self.release = release
        self.database = database
        self.directory = directory
        self.port = proc.free_port()
        self.log = f"{directory}/zabbix_server.log"
        self.conf = f"{directory}/zabbix_server.conf"
        self.process = None
        with open(self.conf, "w") as conf:
            conf.write(
                configuration(
                    cluster=cluster,
                    database=database,
                    port=self.port,
                    log=self.log,
                    directory=directory,
                )
            )

        with open(f"{directory}/odbcinst.ini", "w") as drivers:
            drivers.write(f"[PostgreSQL Unicode]\nDriver={release.odbc_driver}\n")

    def start(self, timeout=60):
        """Starts the server; ready() says when it accepts values."""
        self.mark = len(self.read_log())
        self.process = proc.start(
            [self.release.server, "-f", "-c", self.conf],
            f"{self.directory}/server.out",
            env={**self.release.environment, "TZ": "UTC", "ODBCSYSINI": self.directory},
        )
        proc.wait_for(f"zabbix_server on {self.database}", self._is_up, timeout)

    def _is_up(self):
        """Has its last trapper started since start()?"""
        if self.process.poll() is not None:
            raise proc.Failure(
                f"zabbix_server on {self.database} ended:\n"
                f"{proc.tail(self.log)}"
                f"{proc.tail(self.directory + '/server.out')}"
            )
        log = self.read_log()[self.mark :]
        return re.search(r"server #\d+ started \[trapper #2\]", log)

    def stop(self):
        """Ordinary shutdown: flushes history, then trends."""
        graceful = proc.stop(self.process)
        self.process = None
        return graceful

    def control(self, command):
        """zabbix_server -R command."""
        return proc.run(
            [self.release.server, "-c", self.conf, "-R", command], env=self.release.environment
        )[1]

    def read_log(self):
        """All of the server's log."""
        try:
            with open(self.log, errors="replace") as log:
                return log.read()
        except FileNotFoundError:
            return ""

    def wait_log(self, pattern, since=0, timeout=60):
        """Waits for a line to appear after a position of the log."""
        proc.wait_for(
            f"/{pattern}/ in the log of {self.database}",
            lambda: re.search(pattern, self.read_log()[since:]),
            timeout,
        )

    def send(self, host, values):
        """Sends values by zabbix_sender; returns (processed, failed)."""
        lines = "".join(f'"{host}" {v.key} {v.clock} {v.ns} {_quote(v.value)}\n' for v in values)
        done = subprocess.run(
            [
                self.release.sender,
                "-z",
                "127.0.0.1",
                "-p",
                str(self.port),
                "-T",
                "-N",
                "-v",
                "-i",
                "-",
            ],
            input=lines.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            env=self.release.environment,
        )
        self.answer = done.stdout.decode(errors="replace")
        counts = re.findall(r"^Response from .*processed: (\d+); failed: (\d+)", self.answer, re.M)
        return (sum(int(ok) for ok, _ in counts), len(values) - sum(int(ok) for ok, _ in counts))


def _quote(value):
    """A value in the format of zabbix_sender's input file."""
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + text.replace("\n", "\\n") + '"'
