"""Debian's Zabbix packages, downloaded and extracted, never installed.

That lets 6.0 and 7.0 stand side by side, starts no service and changes no
file of the system: apt works in a private directory, with its own sources.
Shared libraries which the system lacks are taken from the packages' own
dependencies in the same way.  PHP must be there; "packages" lists it.
"""

import glob
import os
import re
import shutil

from . import proc

MIRROR = os.environ.get("ZBXHIST_DEBIAN_MIRROR", "http://deb.debian.org/debian")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

# where the packages of a version are, for the Debian we run on
SUITES = {
    ("6.0", "bookworm"): "bookworm",
    ("6.0", "trixie"): "bookworm",
    ("7.0", "bookworm"): "bookworm-backports",
    ("7.0", "trixie"): "trixie",
}

# 6.0 ships zabbix_sender in the agent's package
COMMON = ("zabbix-frontend-php", "zabbix-agent2")
PACKAGES = {"6.0": COMMON + ("zabbix-agent",), "7.0": COMMON + ("zabbix-sender",)}
# fonts are linked from the frontend, and charts need them; templates need ODBC
SHARED = ("fonts-dejavu-core", "odbc-postgresql")


class Unavailable(Exception):
    """This machine cannot run that version; the text says why."""


class Release:
    """An extracted Zabbix."""

    def __init__(self, version, tree, server):
        self.version = version
        self.tree = tree
        self.server = f"{tree}/usr/sbin/zabbix_server"
        self.sender = f"{tree}/usr/bin/zabbix_sender"
        self.agent = f"{tree}/usr/sbin/zabbix_agent2"
        self.odbc_driver = _odbc_driver(tree)
        self.environment = _environment(tree)
        self.frontend = f"{tree}/usr/share/zabbix"
        self.sql = f"{tree}/usr/share/{server}"
        self.full_version = self._ask_version()

    def _ask_version(self):
        """The version the server itself reports."""
        code, text = proc.run([self.server, "-V"], check=False, env=self.environment)
        found = re.search(r"\(Zabbix\) (\S+)", text)
        if code != 0 or not found:
            raise Unavailable(
                f"zabbix_server {self.version} does not start: " f"{' '.join(text.split())[:300]}"
            )
        return found.group(1)


class Store:
    """A private apt: sources, lists and downloads under one directory.

    further: packages beside those of the tests
    server: the package of the server; they exclude each other
    """

    def __init__(self, directory, further=(), server="zabbix-server-pgsql"):
        self.directory = directory
        self.server = server
        self.further = tuple(further)
        self.codename = _codename()
        self.updated = set()

    def _apt(self, suite):
        """The apt-get which knows that suite only and thinks nothing is
        installed; makes its directories."""
        root = f"{self.directory}/apt-{suite}"
        for part in ("lists/partial", "cache/archives/partial", "parts"):
            os.makedirs(f"{root}/{part}", exist_ok=True)
        open(f"{root}/status", "a").close()  # nothing is installed here
        with open(f"{root}/sources.list", "w") as sources:
            for source in {suite, suite.replace("-backports", "")}:
                sources.write(f"deb [signed-by={KEYRING}] {MIRROR} {source}" " main\n")
        return [
            "apt-get",
            "-q",
            "-o",
            f"Dir::Etc::sourcelist={root}/sources.list",
            "-o",
            f"Dir::Etc::sourceparts={root}/parts",
            "-o",
            f"Dir::State::lists={root}/lists",
            "-o",
            f"Dir::Cache={root}/cache",
            "-o",
            f"Dir::State::status={root}/status",
            "-o",
            "Debug::NoLocking=1",
            "-o",
            "Acquire::Languages=none",
            "-o",
            "Acquire::Retries=3",
            "-o",
            "Acquire::IndexTargets::deb::DEP-11" "::DefaultEnabled=false",
        ]

    def _call(self, suite, *arguments, **options):
        """apt-get with that suite, after one update of its lists."""
        apt = self._apt(suite)
        try:
            if suite not in self.updated:
                proc.run(apt + ["-o", "APT::Update::Error-Mode=any", "update"])
                self.updated.add(suite)
            return proc.run(apt + list(arguments), **options)[1]
        except proc.Failure as failure:
            raise Unavailable(
                f"{suite} of {MIRROR}: " f"{str(failure).splitlines()[-1]}"
            ) from failure

    def _extract(self, suite, packages, into):
        """Downloads packages and unpacks them."""
        debs = f"{into}.debs"
        os.makedirs(debs, exist_ok=True)
        self._call(suite, "download", *packages, cwd=debs)
        for deb in glob.glob(f"{debs}/*.deb"):
            proc.run(["dpkg", "-x", deb, into])
        shutil.rmtree(debs)

    def release(self, version):
        """Fetches and extracts one version, once."""
        suite = SUITES.get((version, self.codename))
        if not suite:
            raise Unavailable(f"no packages of Zabbix {version} for " f"Debian {self.codename}")
        tree = f"{self.directory}/zabbix-{version}"
        zabbix = (self.server, *PACKAGES[version])
        zabbix += tuple(p for p in self.further if p.startswith("zabbix-"))
        others = tuple(p for p in self.further if not p.startswith("zabbix-"))
        packages = SHARED + others + tuple(f"{package}/{suite}" for package in zabbix)
        if not _is_complete(tree, packages):
            shutil.rmtree(tree, ignore_errors=True)
            self._extract(suite, packages, tree)
            _relocate(f"{tree}/usr/share/zabbix")
            self._complete_libraries(suite, tree)
            with open(f"{tree}/.complete", "w") as complete:
                complete.write(" ".join(packages))
        return Release(version, tree, self.server)

    def _complete_libraries(self, suite, tree):
        """Adds the shared libraries the system does not have, and those they
        need in turn."""
        os.makedirs(f"{tree}/libraries", exist_ok=True)
        source = f"{self.directory}/libraries-{suite}"
        is_new = False
        while True:
            missing = _missing_libraries(tree)
            if not missing:
                return
            found = {name: glob.glob(f"{source}/**/{name}", recursive=True) for name in missing}
            if not all(found.values()):
                if is_new:
                    raise Unavailable(f"no package has all of {missing}")
                # kept from a run that needed less, or nothing yet
                shutil.rmtree(source, ignore_errors=True)
                self._extract(suite, self._libraries(suite), source)
                is_new = True
                continue
            for name, files in found.items():
                shutil.copy(files[0], f"{tree}/libraries/{name}")

    def _libraries(self, suite):
        """The packages of libraries that all of it depends on, all the way
        down, without the C library, which must be the system's."""
        wanted = [self.server, "zabbix-agent2", "odbc-postgresql", *self.further]
        listed = "".join(
            self._call(
                suite,
                "-qq",
                "--no-install-recommends",
                "--print-uris",
                "install",
                # one after the other: server and proxy exclude each other
                f"{package}/{suite}" if package.startswith("zabbix-") else package,
            )
            for package in wanted
        )
        names = re.findall(r"^'\S+' (lib[^_\s]+)_", listed, re.M)
        return [
            name for name in set(names) if not re.match(r"libc6|libgcc|libperl|libpam|libsem", name)
        ]


def _is_complete(tree, packages):
    """Has this tree been made, of these packages?"""
    try:
        with open(f"{tree}/.complete") as complete:
            return complete.read() == " ".join(packages)
    except FileNotFoundError:
        return False


def _odbc_driver(tree):
    """PostgreSQL's driver for ODBC."""
    return glob.glob(f"{tree}/usr/lib/*/odbc/psqlodbcw.so")[0]


def _environment(tree):
    """The environment in which the extracted binaries find everything."""
    return {**os.environ, "LD_LIBRARY_PATH": f"{tree}/libraries"}


def _missing_libraries(tree):
    """The sonames which the binaries and our libraries do not find."""
    programs = ("sbin/zabbix_server", "bin/zabbix_sender", "sbin/zabbix_agent2")
    programs += ("sbin/zabbix_proxy", "sbin/snmpd")
    files = [path for path in (f"{tree}/usr/{name}" for name in programs) if os.path.exists(path)]
    files.append(_odbc_driver(tree))
    text = "".join(
        proc.run(["ldd", path], check=False, env=_environment(tree))[1]
        for path in files + glob.glob(f"{tree}/libraries/*")
    )
    return sorted(set(re.findall(r"(\S+) => not found", text)))


def _relocate(frontend):
    """Debian's frontend reads /etc/zabbix/zabbix.conf.php; this one reads its
    own conf/, as upstream's does.  Nothing else of it is changed."""
    path = f"{frontend}/include/classes/core/CConfigFile.php"
    with open(path) as source:
        text = source.read()
    with open(path, "w") as source:
        source.write(
            text.replace("/etc/zabbix/zabbix.conf.php", f"{frontend}/conf/zabbix.conf.php")
        )


def _codename():
    """The release of Debian we run on."""
    with open("/etc/os-release") as release:
        found = re.search(r"^VERSION_CODENAME=(\S+)", release.read(), re.M)
    return found.group(1) if found else "unknown"
