"""The version and date of a release.  They are defined by the first heading of CHANGELOG.md;
all other files repeat them."""

import datetime
import os
import re

from .errors import ReleaseError

VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
HEADING = re.compile(r"^## (\S+) \((.*)\)$", re.M)
AUTHOR = "zbxhist authors <zbxhist@localhost>"

# The places that repeat the version: file, the text before it, the text after it, and
# whether it is the version of the SQL objects, which lacks the last number.
PLACES = (
    ("Makefile", r"^EXTVERSION = ", r"$", True),
    ("zbxhist.control", r"^default_version = '", r"'$", True),
    ("zbxhist_migrate.control", r"^default_version = '", r"'$", True),
    ("src/zbxhist.c", r'^#define ZBXHIST_VERSION "', r'"$', True),
    ("META.json", r'^   "version": "', r'",$', False),
    ("META.json", r'"docfile": "[^"]*",\n         "version": "', r'",$', False),
    ("dist/rpm/zbxhist.spec", r"^Version: +", r"$", False),
)


def read(tree, name):
    """Reads a file."""
    with open(os.path.join(tree, name), encoding="utf-8") as file:
        return file.read()


def write(tree, name, text):
    """Replaces a file."""
    with open(os.path.join(tree, name), "w", encoding="utf-8") as file:
        file.write(text)


def check_version(version):
    """Does PGXN accept this version?"""
    if not VERSION.fullmatch(version):
        raise ReleaseError(f'"{version}" is not a version', "it has three numbers: 1.0.0")


def sql_version(version):
    """The version of the SQL objects."""
    return version.rpartition(".")[0]


def released(tree):
    """The version and date of CHANGELOG.md."""
    heading = HEADING.search(read(tree, "CHANGELOG.md"))
    version, date = heading.groups() if heading else ("", "")
    if not VERSION.fullmatch(version) or not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        raise ReleaseError(
            "CHANGELOG.md does not begin with a release",
            "scripts/release --write VERSION, then commit",
        )
    return version, datetime.date.fromisoformat(date)


def section(tree):
    """The changes of the newest version in CHANGELOG.md, without the heading."""
    text = read(tree, "CHANGELOG.md")
    return re.split(r"^## .*$", text, flags=re.M)[1].strip()


def disagreements(tree, version, date):
    """Returns the places that differ from CHANGELOG.md, and how many were compared."""
    wrong, count = [], 2
    for name, before, after, is_sql in PLACES:
        wanted = sql_version(version) if is_sql else version
        for found in re.findall(f"{before}(.*?){after}", read(tree, name), re.M):
            count += 1
            if found != wanted:
                wrong.append(f"{name} has {found}, not {wanted}")
    if not read(tree, "debian/changelog").startswith(f"{debian_head(version)}\n"):
        wrong.append(f"debian/changelog does not begin with {version}")
    elif debian_end(date) not in read(tree, "debian/changelog").split("\nzbxhist (")[0]:
        wrong.append(f"debian/changelog does not have {date}")
    if rpm_head(version, date) not in read(tree, "dist/rpm/zbxhist.spec"):
        wrong.append(f"dist/rpm/zbxhist.spec has no entry of {version}, {date}")
    return wrong, count


def update_script_missing(tree, version):
    """Returns the missing update script from the previous version of the SQL objects in
    CHANGELOG.md to this one; None if it exists or none is needed."""
    versions = [sql_version(v) for v, _ in HEADING.findall(read(tree, "CHANGELOG.md"))]
    older = [v for v in versions if v != sql_version(version)]
    if not older:
        return None
    script = f"sql/zbxhist--{older[0]}--{sql_version(version)}.sql"
    return None if os.path.exists(os.path.join(tree, script)) else script


def debian_head(version):
    """The first line of an entry of debian/changelog."""
    return f"zbxhist ({version}) unstable; urgency=medium"


def debian_end(date):
    """The last line of an entry of debian/changelog."""
    return f" -- {AUTHOR}  {date:%a, %d %b %Y} 00:00:00 +0000"


def rpm_head(version, date):
    """The first line of an entry of the spec."""
    return f"* {date:%a %b %d %Y} {AUTHOR} - {version}-1\n"


def set_everywhere(tree, version, date):
    """Writes a version and its date into all files that have them."""
    check_version(version)
    set_changelog(tree, version, date)
    for name, before, after, is_sql in PLACES:
        wanted = sql_version(version) if is_sql else version
        pattern = re.compile(f"({before}).*?({after})", re.M)
        write(tree, name, pattern.sub(rf"\g<1>{wanted}\g<2>", read(tree, name)))
    set_debian(tree, version, date)
    set_spec(tree, version, date)


def set_changelog(tree, version, date):
    """The first heading becomes the release if it is unreleased or of the same version."""
    text = read(tree, "CHANGELOG.md")
    heading = HEADING.search(text)
    if not heading or (heading.group(2) != "unreleased" and heading.group(1) != version):
        raise ReleaseError(
            "CHANGELOG.md has nothing unreleased",
            f"write what is new below: ## {version} (unreleased)",
        )
    head = f"## {version} ({date})"
    write(tree, "CHANGELOG.md", text[: heading.start()] + head + text[heading.end() :])


def set_debian(tree, version, date):
    """Adds an entry to debian/changelog, or sets its date."""
    text = read(tree, "debian/changelog")
    entry, _, older = text.partition("\nzbxhist (")
    if not entry.startswith(f"zbxhist ({version}) "):
        older = f"\nzbxhist ({entry[len('zbxhist ('):]}" + (f"\nzbxhist ({older}" if older else "")
        entry = f"{debian_head(version)}\n\n  * See CHANGELOG.md.\n\n -- \n"
    elif older:
        older = f"\nzbxhist ({older}"
    entry = re.sub(r"^ -- .*$", debian_end(date), entry, flags=re.M)
    write(tree, "debian/changelog", entry + older)


def set_spec(tree, version, date):
    """Adds an entry to the spec's changelog, or sets its date."""
    text = read(tree, "dist/rpm/zbxhist.spec")
    same = re.compile(rf"^\* .* - {re.escape(version)}-1\n", re.M)
    if same.search(text):
        text = same.sub(rpm_head(version, date), text)
    else:
        entry = f"%changelog\n{rpm_head(version, date)}- See CHANGELOG.md.\n\n"
        text = text.replace("%changelog\n", entry)
    write(tree, "dist/rpm/zbxhist.spec", text)
