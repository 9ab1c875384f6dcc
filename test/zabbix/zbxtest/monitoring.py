"""The templates of dist/zabbix: imported, fed by the database that this Zabbix
writes to, by ODBC and by Zabbix agent 2; their triggers fire when maintenance
is stopped and when something is broken, and go away after."""

import os
import time

from . import proc
from .upkeep import Upkeep

DIST = os.path.realpath(f"{os.path.dirname(os.path.abspath(__file__))}/../../../dist/zabbix")
ROLE = "zbx_monitor"
GROUP = "zbxhist monitoring"
TEMPLATES = {"zbxhist-odbc": "zbxhist by ODBC", "zbxhist-agent": "zbxhist by Zabbix agent 2"}

# what takes hours in production
LIMITS = {
    "INTERVAL": "1s",
    "MAINTENANCE.MAX": "10s",
    "WAITING.TIME": "3s",
    "WAITING.BEFORE": "30s",
    "GROWTH.TIME": "30s",
    "GROWTH.PERCENT": "5",
    "GROWTH.MIN": "1M",
}
# the beginning of the problem's name for each thing that is broken
PROBLEMS = (
    "zbxhist: maintenance has not succeeded",
    "zbxhist: check() has errors",
    "zbxhist: partitions of history_log do for less",
    "zbxhist: rows wait in history_str itself",
    "zbxhist: the database grew",
)

AGENT = """
Server=127.0.0.1
ListenIP=127.0.0.1
ListenPort={port}
Hostname=zbxhist-agent
LogType=file
LogFile={directory}/agent.log
PidFile={directory}/agent.pid
ControlSocket={directory}/agent.sock
PluginSocket={directory}/plugin.sock
Include={dist}/zbxhist.conf
"""


class Monitoring(Upkeep):
    """On managed sites only, so the last part of a story."""

    def monitoring(self):
        """Both templates, from their import to triggers that fire."""
        for site in self.managed:
            agent, port = self._start_agent(site)
            try:
                self._import(site)
                self._create_hosts(site, port)
                self._watch(site)
                self._break(site)
                self._mend(site)
                self._see_dashboards(site)
            finally:
                proc.stop(agent)
            self._delete_hosts(site)

    def _start_agent(self, site):
        """Zabbix agent 2; Debian's has no plugin for PostgreSQL, so it does
        with dist/zabbix/zbxhist.conf what the plugin does with zbxhist.sql."""
        port = proc.free_port()
        directory = site.server.directory
        with open(f"{directory}/agent.conf", "w") as conf:
            conf.write(AGENT.format(port=port, directory=directory, dist=DIST))
        release = site.server.release
        environment = {
            **release.environment,
            "PGHOST": site.cluster.directory,
            "PGPORT": str(site.cluster.port),
            "PATH": f"{site.cluster.bin}:{os.environ['PATH']}",
        }
        agent = proc.start(
            [release.agent, "-f", "-c", f"{directory}/agent.conf"],
            f"{directory}/agent.out.log",
            env=environment,
        )
        return agent, port

    def _import(self, site):
        """The file of this version, twice: the second time changes nothing."""
        with open(f"{DIST}/zbxhist-{self.version}.yaml") as file:
            source = file.read()
        everything = {"createMissing": True, "updateExisting": True}
        rules = {
            "groups" if self.version == "6.0" else "template_groups": everything,
            "templates": everything,
            "templateDashboards": everything,
            "valueMaps": everything,
            "items": everything,
            "discoveryRules": everything,
            "triggers": everything,
            "graphs": everything,
        }
        for _ in range(2):
            site.frontend.api("configuration.import", format="yaml", rules=rules, source=source)
        found = site.frontend.api(
            "template.get",
            filter={"host": list(TEMPLATES.values())},
            output=["host"],
            selectItems="count",
            selectDashboards="count",
        )
        self.tap.ok(
            len(found) == 2 and all(int(each["items"]) > 10 for each in found),
            self.name(site, "both templates are imported"),
            found,
        )

    def _create_hosts(self, site, port):
        """A host with each template, with limits for a test."""
        api = site.frontend.api
        self.groupid = api("hostgroup.create", name=GROUP)["groupids"][0]
        templates = {
            each["host"]: each["templateid"]
            for each in api(
                "template.get", output=["host"], filter={"host": list(TEMPLATES.values())}
            )
        }
        macros = {
            **LIMITS,
            "DATABASE": site.database,
            "USER": ROLE,
            "CONNSTRING": f"Servername={site.cluster.directory};Port={site.cluster.port};"
            "Driver=PostgreSQL Unicode",
        }
        self.hostids = [
            api(
                "host.create",
                host=host,
                groups=[{"groupid": self.groupid}],
                interfaces=[
                    {
                        "type": 1,
                        "main": 1,
                        "useip": 1,
                        "ip": "127.0.0.1",
                        "dns": "",
                        "port": str(port),
                    }
                ],
                templates=[{"templateid": templates[template]}],
                macros=[
                    {"macro": f"{{$ZBXHIST.{name}}}", "value": value}
                    for name, value in macros.items()
                ],
            )["hostids"][0]
            for host, template in TEMPLATES.items()
        ]

    def _watch(self, site):
        """All tables are discovered, every item gets a value, no trigger fires."""
        tables = len(site.tables("history") + site.tables("trends"))
        site.server.control("config_cache_reload")
        self._wait(site, "the tables", lambda: self._discovered(site) == [tables] * 2)
        site.server.control("config_cache_reload")
        self._wait(site, "values of each item", lambda: not self._without_value(site))
        self.tap.equal(
            self._without_value(site),
            [],
            self.name(site, f"both templates have values of {tables} tables"),
        )
        found = site.frontend.api(
            "item.get",
            hostids=self.hostids,
            output=["lastvalue"],
            filter={"key_": 'zbxhist.table.interval["public.history"]'},
        )
        self.tap.equal(
            [item["lastvalue"] for item in found],
            ["3600"] * 2,
            self.name(site, "both have the same value as metrics()"),
        )
        self._wait(site, "no problem", lambda: not self._open(site))
        self.tap.equal(self._open(site), [], self.name(site, "no trigger fires"))
        # those of two periods cannot before they have values of both
        self._wait(site, "no trigger in error", lambda: not self._in_error(site))
        self.tap.equal(self._in_error(site), [], self.name(site, "every trigger can be calculated"))

    def _wait(self, site, what, condition, maintained=True):
        """Waits, with maintenance every other second or without it."""

        def check():
            if maintained:
                site.query("CALL zbxhist.run_maintenance();")
            return condition()

        try:
            proc.wait_for(f"{what} of {site.database}", check, 180, pause=1)
        except proc.Failure as failure:
            self.tap.note(failure)

    def _discovered(self, site):
        """How many tables each host has."""
        return [
            int(
                site.value(
                    f"SELECT count(*) FROM items WHERE hostid = {hostid} AND flags = 4"
                    " AND key_ LIKE 'zbxhist.table.runway%'"
                )
            )
            for hostid in self.hostids
        ]

    def _without_value(self, site):
        """The items that should have a value and have none, with the reason.
        Some are null: what is packed, dropped or has failed."""
        items = site.frontend.api(
            "item.get",
            hostids=self.hostids,
            output=["key_", "lastclock", "error", "state"],
            filter={"status": 0},
        )
        nothing = ("value.bytes", "last_error", "next_drop", "values.fast", "oldest", "retention")
        return [
            f"{item['key_']} {item['error']}"
            for item in items
            if item["state"] != "0"
            or (
                item["lastclock"] == "0"
                and item["key_"].startswith("zbxhist.")
                and not any(part in item["key_"] for part in nothing)
            )
        ]

    def _in_error(self, site):
        """Triggers that cannot be calculated, and why."""
        return site.frontend.api(
            "trigger.get",
            hostids=self.hostids,
            output=["description", "error"],
            filter={"state": 1},
        )

    def _open(self, site):
        """Names of the open problems of both hosts."""
        return sorted(
            problem["name"]
            for problem in site.frontend.api(
                "problem.get", hostids=self.hostids, output=["name"], source=0, object=0
            )
        )

    def _fired(self, site, since):
        """Those of PROBLEMS that each host has had since then.  Two compare with
        what was half a minute ago, so they go away by themselves: on a busy machine
        not all are open at once."""
        names = []
        for hostid in self.hostids:
            of_host = {"hostids": [hostid], "output": ["name"], "source": 0, "object": 0}
            events = site.frontend.api("event.get", value=1, time_from=since, **of_host)
            problems = site.frontend.api("problem.get", **of_host)
            names.append([each["name"] for each in events + problems])
        return {
            start
            for start in PROBLEMS
            if all(any(name.startswith(start) for name in each) for each in names)
        }

    def _break(self, site):
        """Something that check() calls an error; then maintenance is stopped,
        partitions ahead are gone, rows wait, the disk fills.  The rows of those
        partitions come back."""
        began = int(time.time())
        site.query("ALTER TABLE history_log DISABLE TRIGGER zzz_zbxhist_route;")
        site.query("CALL zbxhist.run_maintenance();")
        site.query(
            "CREATE TABLE kept AS SELECT * FROM history_log WHERE clock >= (SELECT min(from_clock)"
            " FROM zbxhist.list_partitions('history_log')"
            " WHERE from_clock > extract(epoch FROM now()));"
            "SELECT format('DROP TABLE %s', partition) FROM zbxhist.list_partitions('history_log')"
            " WHERE from_clock > extract(epoch FROM now()) \\gexec"
        )
        site.query(
            "INSERT INTO history_str (itemid, clock, value, ns)"
            " SELECT 1000000000 + i, extract(epoch FROM now())::integer + 20 * 86400, 'waits', 0"
            " FROM generate_series(1, 5000) i;"
        )
        site.query(
            "CREATE TABLE growth AS SELECT repeat(md5(i::text), 30) AS filler FROM"
            " generate_series(1, (pg_database_size(current_database()) / 8000)::integer) i;"
        )
        fired = set()

        def all_fired():
            # one may have been open before, and has no new event
            fired.update(self._fired(site, began))
            return fired == set(PROBLEMS)

        self._wait(site, "all problems", all_fired, False)
        for start in PROBLEMS:
            self.tap.ok(
                start in fired,
                self.name(site, f'"{start}" on both hosts'),
                *self._open(site),
            )

    def _mend(self, site):
        """By the command of check(), then maintenance again."""
        site.query("SELECT hint FROM zbxhist.check() WHERE severity = 'error' \\gexec")
        site.query("DROP TABLE growth;")
        site.query("CALL zbxhist.run_maintenance();")
        site.query("INSERT INTO history_log SELECT * FROM kept ON CONFLICT DO NOTHING;")
        site.query("DROP TABLE kept;")
        self._wait(site, "the end of all problems", lambda: not self._open(site))
        self.tap.equal(self._open(site), [], self.name(site, "no trigger fires any more"))
        site.query("DELETE FROM history_str WHERE itemid > 1000000000;")

    def _see_dashboards(self, site):
        """Each host's dashboard is shown, with its graphs."""
        for hostid in self.hostids:
            status, _, body = site.frontend.page(
                "zabbix.php", action="host.dashboard.view", hostid=hostid
            )
            self.tap.ok(
                status == 200 and b"zbxhist" in body and b"Cannot find" not in body,
                self.name(site, "the host's dashboard is shown"),
                status,
                body[:500],
            )

    def _delete_hosts(self, site):
        """Leaves the Zabbix as it was."""
        api = site.frontend.api
        api("host.delete", self.hostids)
        api("hostgroup.delete", [self.groupid])
        found = api(
            "template.get", output=["templateid"], filter={"host": list(TEMPLATES.values())}
        )
        api("template.delete", [each["templateid"] for each in found])
        site.server.control("config_cache_reload")
