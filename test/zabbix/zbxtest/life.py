"""A Zabbix as people use it, to be recorded: hosts with Zabbix's own templates, polled by
agent, SNMP and HTTP, values that are sent, a proxy that goes offline, pages and API calls, a
restart."""

import http.server
import json
import os
import random
import socket
import threading
import time

from . import proc
from .browser import Browser
from .site import Site
from .values import FLOAT, LOG, STR, TEXT, UINT, Value

# packages beside those of the tests
PACKAGES = ("zabbix-proxy-sqlite3", "snmpd")

SERVER = {
    "StartPollers": 5,
    "StartAgentPollers": 1,
    "StartSNMPPollers": 1,
    "StartHTTPAgentPollers": 1,
    "StartPreprocessors": 2,
    "StartTrappers": 4,
    "StartDBSyncers": 4,
    "StartHistoryPollers": 2,
    "StartProxyPollers": 0,
    "HousekeepingFrequency": 1,
    "CacheUpdateFrequency": 60,
    "CacheSize": "128M",
    "ValueCacheSize": "64M",
    "Timeout": 10,
}

AGENT = """
Server=127.0.0.1
ServerActive=127.0.0.1:{server_port}
ListenIP=127.0.0.1
ListenPort={port}
Hostname={hosts}
LogType=file
LogFile={directory}/agent2.log
PidFile={directory}/agent2.pid
ControlSocket={directory}/agent2.sock
PluginSocket={directory}/plugin2.sock
"""

PROXY = """
Server=127.0.0.1:{server_port}
Hostname=life-proxy
ListenIP=127.0.0.1
ListenPort={port}
DBName={directory}/proxy.db
LogType=file
LogFile={directory}/zabbix_proxy.log
PidFile={directory}/proxy.pid
SocketDir={directory}/proxy
StartPollers=2
StartTrappers=1
ProxyConfigFrequency=10
DataSenderFrequency=1
ProxyBufferMode=disk
"""

SNMPD = """
rocommunity public 127.0.0.1
agentAddress udp:127.0.0.1:{port}
sysLocation here
"""

# members of the document that HTTP items have
MEMBERS = 24
KINDS = {"f": FLOAT, "u": UINT, "s": STR, "t": TEXT, "l": LOG}
MANY = {"f": 1200, "u": 600, "s": 60, "t": 40, "l": 40}
WORDS = (
    "service started stopped connection from refused timeout user session disk pool error".split()
)
TRIGGERS = {
    "average is high {n}": "avg(/life-trapper/f.{n},10m)>60 and min(/life-trapper/f.{n},#3)>50",
    "changes {n}": "change(/life-trapper/u.{n})<0",
    "forecast {n}": "timeleft(/life-trapper/f.{n},30m,100)<1h",
    "percentile {n}": "percentile(/life-trapper/f.{n},15m:now-5m,95)>90",
    "no data {n}": "nodata(/life-trapper/u.{n},5m)=1",
    "log {n}": 'count(/life-trapper/l.{n},10m,"like","refused")>20',
    "text {n}": "find(/life-trapper/t.{n},#2)=1 and last(/life-trapper/t.{n})<>last(/life-trapper/t.{n},#2)",
    "baseline {n}": "trendavg(/life-trapper/f.{n},1h:now/h)>80",
}
CALCULATED = {
    "calc.avg.{n}": "avg(/life-trapper/f.{n},15m)",
    "calc.sum.{n}": "last(/life-trapper/f.{n})+last(/life-trapper/u.{n})",
    "calc.trend.{n}": "trendmax(/life-trapper/f.{n},1h:now/h)",
}

# as a person clicks through the pages
PAGES = (
    "zabbix.php?action=dashboard.view",
    "zabbix.php?action=latest.view&hostids%5B%5D={host}&filter_set=1",
    "zabbix.php?action=problem.view",
    "zabbix.php?action=host.view",
    "history.php?action=showgraph&itemids%5B%5D={f}&from=now-1h&to=now",
    "history.php?action=showgraph&itemids%5B%5D={f}&from=now-7d&to=now",
    "history.php?action=showvalues&itemids%5B%5D={f}&from=now-1h&to=now",
    "history.php?action=showlatest&itemids%5B%5D={t}",
    "history.php?action=showvalues&itemids%5B%5D={l}&from=now-1h&to=now",
    "history.php?action=batchgraph&itemids%5B%5D={f}&itemids%5B%5D={u}&graphtype=0&from=now-1h&to=now",
    "zabbix.php?action=charts.view&filter_hostids%5B%5D={host}&filter_show=1&filter_set=1&from=now-3h&to=now",
    "zabbix.php?action=web.view",
    "zabbix.php?action=report.status",
    "zabbix.php?action=auditlog.list",
)

AGGREGATIONS = {
    "none": 0,
    "min": 1,
    "max": 2,
    "avg": 3,
    "count": 4,
    "sum": 5,
    "first": 6,
    "last": 7,
}


class Forwarder(threading.Thread):
    """A TCP forwarder that can be cut."""

    def __init__(self, target):
        super().__init__(daemon=True)
        self.target = target
        self.socket = socket.create_server(("127.0.0.1", proc.free_port()))
        self.port = self.socket.getsockname()[1]
        self.is_cut = False
        self.pairs = []

    def run(self):
        while True:
            client, _ = self.socket.accept()
            if self.is_cut:
                client.close()
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self.target), 5)
            except OSError:
                client.close()
                continue
            self.pairs.append((client, server))
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=(one, other), daemon=True).start()

    @staticmethod
    def _copy(one, other):
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self, is_cut):
        """Ends its connections, and forwards nothing until told otherwise."""
        self.is_cut = is_cut
        if is_cut:
            for pair in self.pairs:
                for end in pair:
                    try:
                        end.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass
            self.pairs.clear()


class Document(http.server.BaseHTTPRequestHandler):
    """The web server that HTTP items poll: a document of numbers that change."""

    def do_GET(self):
        dice = random.Random(int(time.time() / 10))
        body = {"m%d" % n: round(dice.gauss(50 + n, 8), 3) for n in range(MEMBERS)}
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        """Logs nothing, because nobody reads it."""


class Behind:
    """The cluster, as reached through the recording proxy."""

    def __init__(self, cluster, directory, port):
        self.cluster, self.host, self.port = cluster, directory, port

    def __getattr__(self, name):
        return getattr(self.cluster, name)


class Life(Site):
    """The Zabbix that is recorded."""

    def __init__(self, cluster, directory, database, release, hosts):
        super().__init__(cluster, directory, database, managed=False)
        self.release = release
        self.hosts = hosts
        self.random = random.Random(1)
        self.stopping = threading.Event()
        self.threads = []
        self.browser = None

    # ------------------------------------------------------------- set-up

    def configure(self):
        """Settings of the server as in an installation, not of a test."""
        with open(self.server.conf) as conf:
            lines = [line for line in conf if line.split("=")[0] not in SERVER]
        with open(self.server.conf, "w") as conf:
            conf.writelines(lines + ["%s=%s\n" % pair for pair in SERVER.items()])

    def populate(self):
        """Hosts, items and triggers of all kinds."""
        api = self.frontend.api
        self.group = api("hostgroup.create", name="life")["groupids"][0]
        self.templates = {
            each["host"]: each["templateid"] for each in api("template.get", output=["host"])
        }
        self.names = ["life-agent-%d" % n for n in range(self.hosts)]
        self._agent_hosts()
        self._snmp_hosts()
        self._http_host()
        self._trapper_host()
        self._proxy_hosts()
        self._own_host()
        self.reload_configuration()

    def reload_configuration(self):
        """Makes the server load everything."""
        self.server.control("config_cache_reload")

    def _host(self, name, port, kind, templates, **further):
        """A host with one interface (kind 1: agent, 2: SNMP)."""
        interface = {"type": kind, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": ""}
        interface["port"] = str(port)
        if kind == 2:
            interface["details"] = {"version": 2, "community": "public"}
        return self.frontend.api(
            "host.create",
            host=name,
            groups=[{"groupid": self.group}],
            interfaces=[interface],
            templates=[{"templateid": self.templates[one]} for one in templates],
            **further,
        )["hostids"][0]

    def _agent_hosts(self):
        port = proc.free_port()
        active = ["life-active-%d" % n for n in range(max(1, self.hosts // 4))]
        log = f"{self.directory}/service.log"
        with open(f"{self.directory}/agent2.conf", "w") as conf:
            conf.write(
                AGENT.format(
                    port=port,
                    server_port=self.server.port,
                    hosts=",".join(active),
                    directory=self.directory,
                )
            )
        self.agent = proc.start(
            [self.release.agent, "-f", "-c", f"{self.directory}/agent2.conf"],
            f"{self.directory}/agent2.out.log",
            env=self.release.environment,
        )
        self.agent_port = port
        for name in self.names:
            self.hostid = self._host(name, port, 1, ["Linux by Zabbix agent"])
        for name in active:
            hostid = self._host(name, port, 1, ["Linux by Zabbix agent active"])
            self.frontend.api(
                "item.create",
                hostid=hostid,
                name="service log",
                key_=f"log[{log}]",
                type=7,
                value_type=LOG,
                delay="1s",
            )
        self._start(self._write_log, log)

    def _write_log(self, path):
        """A log that an agent reads."""
        while not self.stopping.wait(self.random.random() * 2):
            with open(path, "a") as log:
                for _ in range(self.random.randrange(1, 6)):
                    log.write(time.strftime("%F %T ") + self._sentence() + "\n")

    def _sentence(self):
        words = [self.random.choice(WORDS) for _ in range(self.random.randrange(4, 14))]
        return "%s [%d]" % (" ".join(words), self.random.randrange(1000))

    def _snmp_hosts(self):
        daemon = f"{self.release.tree}/usr/sbin/snmpd"
        port = proc.free_port()
        with open(f"{self.directory}/snmpd.conf", "w") as conf:
            conf.write(SNMPD.format(port=port))
        environment = {
            **self.release.environment,
            "MIBS": "",
            "SNMP_PERSISTENT_DIR": self.directory,
        }
        proc.start(
            [daemon, "-f", "-Lo", "-C", "-c", f"{self.directory}/snmpd.conf", "-I", "-smux"],
            f"{self.directory}/snmpd.log",
            env=environment,
        )
        for number in range(max(1, self.hosts // 8)):
            self._host(f"life-snmp-{number}", port, 2, ["Linux by SNMP"])

    def _http_host(self):
        """Masters with dependents, which have their masters' times."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", proc.free_port()), Document)
        self._start(server.serve_forever)
        url = "http://127.0.0.1:%d/" % server.server_port
        hostid = self._host("life-http", self.agent_port, 1, [])
        api = self.frontend.api
        for number in range(max(2, self.hosts // 2)):
            master = api(
                "item.create",
                hostid=hostid,
                name="document %d" % number,
                key_="document.%d" % number,
                type=19,
                value_type=TEXT,
                url=url,
                delay="10s",
                history="0",
            )["itemids"][0]
            api(
                "item.create",
                [
                    {
                        "hostid": hostid,
                        "name": "member %d of %d" % (member, number),
                        "key_": "member[%d,%d]" % (number, member),
                        "type": 18,
                        "master_itemid": master,
                        "value_type": FLOAT if member % 3 else UINT,
                        "preprocessing": [
                            {
                                "type": 12,
                                "params": "$.m%d" % member,
                                "error_handler": 0,
                                "error_handler_params": "",
                            }
                        ],
                    }
                    for member in range(MEMBERS)
                    if member % 3
                ],
            )

    def _trapper_host(self):
        """Items whose values are sent, calculated items, and triggers on them."""
        api = self.frontend.api
        hostid = self._host("life-trapper", self.agent_port, 1, [])
        self.trapper = hostid
        self.keys = ["%s.%d" % (kind, n) for kind, count in MANY.items() for n in range(count)]
        items = [
            {
                "hostid": hostid,
                "name": key,
                "key_": key,
                "type": 2,
                "value_type": KINDS[key[0]],
            }
            for key in self.keys
        ]
        for start in range(0, len(items), 200):
            part = items[start : start + 200]
            ids = api("item.create", part)["itemids"]
            self.itemids.update(zip((item["key_"] for item in part), ids))
        api(
            "item.create",
            [
                {
                    "hostid": hostid,
                    "name": key.format(n=n),
                    "key_": key.format(n=n),
                    "type": 15,
                    "value_type": FLOAT,
                    "delay": "30s",
                    "params": formula.format(n=n),
                }
                for key, formula in CALCULATED.items()
                for n in range(10)
            ],
        )
        api(
            "trigger.create",
            [
                {"description": name.format(n=n), "expression": formula.format(n=n)}
                for name, formula in TRIGGERS.items()
                for n in range(25)
            ],
        )

    def _proxy_hosts(self):
        """A proxy of Zabbix whose connection to the server can be cut."""
        os.makedirs(f"{self.directory}/proxy")
        self.way = Forwarder(self.server.port)
        self.way.start()
        with open(f"{self.directory}/proxy.conf", "w") as conf:
            conf.write(
                PROXY.format(
                    server_port=self.way.port, port=proc.free_port(), directory=self.directory
                )
            )
        proxyid = self.frontend.api("proxy.create", name="life-proxy", operating_mode=0)[
            "proxyids"
        ][0]
        for number in range(max(1, self.hosts // 4)):
            self._host(
                f"life-remote-{number}",
                self.agent_port,
                1,
                ["Linux by Zabbix agent"],
                monitored_by=1,
                proxyid=proxyid,
            )
        self.proxy = proc.start(
            [
                f"{self.release.tree}/usr/sbin/zabbix_proxy",
                "-f",
                "-c",
                f"{self.directory}/proxy.conf",
            ],
            f"{self.directory}/proxy.out.log",
            env=self.release.environment,
        )

    def _own_host(self):
        """Monitors the server itself as well."""
        self.query("UPDATE hosts SET status = 0 WHERE host = 'Zabbix server'")

    # ------------------------------------------------------------- traffic

    def _start(self, what, *arguments):
        thread = threading.Thread(target=what, args=arguments, daemon=True)
        thread.start()
        self.threads.append(thread)

    def begin(self):
        """Starts all traffic."""
        self._start(self._guarded, self._send_values)
        self._start(self._guarded, self._click)
        self._start(self._guarded, self._ask_api)

    def _guarded(self, what):
        """Repeats what fails once, because the server is restarted meanwhile."""
        while not self.stopping.is_set():
            try:
                what()
            except (proc.Failure, OSError) as failure:
                print("# %s: %s" % (what.__name__, str(failure)[:300]), flush=True)
            self.stopping.wait(5)

    def _send_values(self):
        """Sends values of a part of the items each second, sometimes the same again."""
        sent = []
        while not self.stopping.wait(1):
            now = time.time()
            due = [key for number, key in enumerate(self.keys) if (number + int(now)) % 20 == 0]
            values = [self._value(key, now) for key in due]
            if sent and self.random.random() < 0.02:
                values += self.random.sample(sent, len(sent) // 4)
            self.random.shuffle(values)
            sent = values
            self.server.send("life-trapper", values)

    def _value(self, key, now):
        """A value of a moment ago, as from a script that waits for others."""
        clock = now - self.random.expovariate(1 / 3)
        kind = key[0]
        if kind == "f":
            text = "%.3f" % self.random.gauss(50, 12)
        elif kind == "u":
            text = str(int(now) * 1000 + self.random.randrange(1000))
        elif kind == "s":
            text = self.random.choice(WORDS)
        else:
            text = " ".join(self._sentence() for _ in range(self.random.randrange(1, 4)))
        return Value(key, int(clock), self.random.randrange(10**9), text)

    def _click(self):
        """Opens pages in a browser, and graphs as its dashboards request them."""
        for page in PAGES:
            if self.stopping.wait(self.random.random() * 40):
                return
            number = self.random.randrange(40)
            url = page.format(
                host=self.trapper if self.random.random() < 0.5 else self.hostid,
                f=self.itemids["f.%d" % number],
                u=self.itemids["u.%d" % number],
                t=self.itemids["t.%d" % number],
                l=self.itemids["l.%d" % number],
            )
            self._browse(url)
            self._graph(number)

    def _browse(self, path):
        """One page with all its requests."""
        if self.browser is None:
            self.browser = Browser(self.directory)
            self.browser.log_in(self.frontend.url, self.frontend.cookies)
        self.browser.open(f"{self.frontend.url}/{path}", 4)
        self.browser.screenshot(f"{self.directory}/page.png")

    def _graph(self, number):
        """The graph widget's request, with each way to aggregate in turn."""
        name, function = self.random.choice(sorted(AGGREGATIONS.items()))
        hours = self.random.choice((1, 3, 24, 168))
        data_set = {
            "dataset_type": 0,
            "itemids": [self.itemids["f.%d" % n] for n in range(number, number + 5)],
            "color": ["FF465C"] * 5,
            "type": 0,
            "stacked": 0,
            "width": 1,
            "pointsize": 3,
            "transparency": 5,
            "fill": 3,
            "missingdatafunc": 0,
            "axisy": 0,
            "timeshift": "",
            "aggregate_function": function,
            "aggregate_interval": "5m" if hours < 24 else "1h",
            "aggregate_grouping": 0,
            "approximation": 2,
            "data_set_label": name,
        }
        self.frontend.page(
            "zabbix.php?action=widget.svggraph.view",
            body={
                "templateid": "",
                "fields": {
                    "ds": [data_set],
                    "time_period": {"from": "now-%dh" % hours, "to": "now"},
                },
                "view_mode": 0,
                "contents_width": 800,
                "contents_height": 300,
                "edit_mode": 0,
            },
        )

    def _ask_api(self):
        """The requests of Grafana's plugin for Zabbix."""
        api = self.frontend.api
        now = int(time.time())
        hosts = api("host.get", output=["hostid", "name"], groupids=[self.group])
        host = self.random.choice(hosts)
        items = api(
            "item.get",
            output=["itemid", "name", "key_", "value_type", "lastvalue"],
            hostids=[host["hostid"]],
            filter={"value_type": [FLOAT, UINT]},
            limit=40,
        )
        for kind in (FLOAT, UINT):
            ids = [item["itemid"] for item in items if int(item["value_type"]) == kind][:12]
            if not ids:
                continue
            period = self.random.choice((900, 3600, 10800, 86400))
            api(
                "history.get",
                output="extend",
                history=kind,
                itemids=ids,
                sortfield="clock",
                sortorder="ASC",
                time_from=now - period,
                time_till=now,
            )
            api("trend.get", output="extend", itemids=ids, time_from=now - 7 * 86400, time_till=now)
        api("problem.get", output="extend", selectAcknowledges="count", recent=True, limit=100)
        self.stopping.wait(self.random.random() * 15)

    # ------------------------------------------------------------- events

    def cut_off(self, seconds):
        """The proxy is offline for a while; its values come afterwards."""
        self.way.cut(True)
        time.sleep(seconds)
        self.way.cut(False)

    def restart(self):
        """The server flushes, stops, and starts with empty caches."""
        self.server.stop()
        self.server.start(120)

    def discover(self):
        """Hosts are added, and one is removed with its history."""
        for number in range(2):
            self._host("life-new-%d" % number, self.agent_port, 1, ["Linux by Zabbix agent"])
        found = self.frontend.api("host.get", filter={"host": ["life-agent-0"]}, output=["hostid"])
        if found:
            self.frontend.api("host.delete", [found[0]["hostid"]])
        self.frontend.api("history.clear", [self.itemids["f.0"], self.itemids["u.0"]])
        self.reload_configuration()

    def housekeep(self):
        """The housekeeper, which runs half an hour after a start and then each hour."""
        self.server.control("housekeeper_execute")

    def end(self):
        """Stops everything; the server flushes its trends."""
        self.stopping.set()
        for process in (self.proxy, self.agent):
            proc.stop(process)
        for thread in self.threads:
            thread.join(0.1)
        self.stop()
