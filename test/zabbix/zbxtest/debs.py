"""Debian's Zabbix packages, downloaded and extracted, never installed.

That lets 6.0 and 7.0 stand side by side, starts no service and changes no
file of the system: apt works in a private directory, with its own sources.
The shared libraries and PHP must be there; "packages" lists them.
"""

import glob
import os
import re

from . import proc

MIRROR = os.environ.get("ZBXHIST_DEBIAN_MIRROR",
                        "http://deb.debian.org/debian")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

# where the packages of a version are, for the Debian we run on: the binaries
# must find the sonames of their own release
SUITES = {
    ("6.0", "bookworm"): "bookworm",
    ("7.0", "bookworm"): "bookworm-backports",
    ("7.0", "trixie"): "trixie",
}

# 6.0 ships zabbix_sender in the agent's package
PACKAGES = {
    "6.0": ("zabbix-server-pgsql", "zabbix-frontend-php", "zabbix-agent"),
    "7.0": ("zabbix-server-pgsql", "zabbix-frontend-php", "zabbix-sender"),
}
SHARED = ("fonts-dejavu-core",)     # the frontend links to it, charts need it


class Unavailable(Exception):
    """This machine cannot have that version; the text says why."""


class Release:
    """An extracted Zabbix."""

    def __init__(self, version, tree):
        self.version = version
        self.tree = tree
        self.server = f"{tree}/usr/sbin/zabbix_server"
        self.sender = f"{tree}/usr/bin/zabbix_sender"
        self.frontend = f"{tree}/usr/share/zabbix"
        self.sql = f"{tree}/usr/share/zabbix-server-pgsql"
        self.full_version = self._ask_version()

    def _ask_version(self):
        """The version the server itself reports; fails here, not halfway,
        when a shared library is missing."""
        code, text = proc.run([self.server, "-V"], check=False)
        found = re.search(r"\(Zabbix\) (\S+)", text)
        if code != 0 or not found:
            raise Unavailable(f"zabbix_server {self.version} does not start: "
                              f"{' '.join(text.split())[:300]}")
        return found.group(1)


class Store:
    """A private apt: sources, lists and downloads under one directory."""

    def __init__(self, directory):
        self.directory = directory
        self.codename = _codename()
        self.updated = set()

    def _apt(self, suite):
        root = f"{self.directory}/apt-{suite}"
        for part in ("lists/partial", "cache/archives/partial", "parts"):
            os.makedirs(f"{root}/{part}", exist_ok=True)
        with open(f"{root}/sources.list", "w") as sources:
            sources.write(f"deb [signed-by={KEYRING}] {MIRROR} {suite} main\n")
        return ["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={root}/sources.list",
                "-o", f"Dir::Etc::sourceparts={root}/parts",
                "-o", f"Dir::State::lists={root}/lists",
                "-o", f"Dir::Cache={root}/cache",
                "-o", "Acquire::Languages=none", "-o", "Acquire::Retries=3",
                "-o", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false"]

    def _download(self, suite, packages, into):
        """apt-get download, after one update of that suite's lists."""
        apt = self._apt(suite)
        os.makedirs(into, exist_ok=True)
        try:
            if suite not in self.updated:
                proc.run(apt + ["-o", "APT::Update::Error-Mode=any", "update"])
                self.updated.add(suite)
            proc.run(apt + ["download", *packages], cwd=into)
        except proc.Failure as failure:
            raise Unavailable(f"{suite} of {MIRROR}: "
                              f"{str(failure).splitlines()[-1]}") from failure

    def release(self, version):
        """Fetches and extracts one version, once."""
        suite = SUITES.get((version, self.codename))
        if not suite:
            raise Unavailable(f"Zabbix {version} is not packaged for "
                              f"Debian {self.codename}")
        tree = f"{self.directory}/zabbix-{version}"
        if not os.path.exists(f"{tree}/.complete"):
            into = f"{self.directory}/debs-{version}"
            self._download(suite, PACKAGES[version], into)
            self._download(suite.replace("-backports", ""), SHARED, into)
            for deb in glob.glob(f"{into}/*.deb"):
                proc.run(["dpkg", "-x", deb, tree])
            _relocate(f"{tree}/usr/share/zabbix")
            open(f"{tree}/.complete", "w").close()
        return Release(version, tree)


def _relocate(frontend):
    """Debian's frontend reads /etc/zabbix/zabbix.conf.php; this one reads its
    own conf/, as upstream's does.  Nothing else of it is changed."""
    path = f"{frontend}/include/classes/core/CConfigFile.php"
    with open(path) as source:
        text = source.read()
    with open(path, "w") as source:
        source.write(text.replace("/etc/zabbix/zabbix.conf.php",
                                  f"{frontend}/conf/zabbix.conf.php"))


def _codename():
    """The release of Debian we run on."""
    with open("/etc/os-release") as release:
        found = re.search(r"^VERSION_CODENAME=(\S+)", release.read(), re.M)
    return found.group(1) if found else "unknown"
