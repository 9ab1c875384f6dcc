"""The checklist of a release: what was run, with figures."""

import hashlib
import re

# the suites of scripts/test --all
SUITES = (
    "house build regress isolation pgtap tap fuzz zabbix mysql bench packages deploy scripts soak "
    "power matrix clock"
).split()
COUNTED = re.compile(r"^ *(\S.*?) +(\d+) passed +(\d+) failed +(\d+) s$")
SKIPPED = re.compile(r"^ *(\S.*?) +skipped: (.*)$")


def read_log(text):
    """Reads the suites of a log of scripts/test: name to result.  A suite is in it twice, when
    it ends and in the summary."""
    suites = {}
    for line in text.splitlines():
        counted, left_out = COUNTED.match(line), SKIPPED.match(line)
        if counted:
            name, *figures = counted.groups()
            suites[name] = tuple(map(int, figures))
        elif left_out and left_out.group(1).split()[0] in SUITES:
            suites[left_out.group(1)] = left_out.group(2)
    return suites


def read_logs(files):
    """Returns the suites of all logs, and descriptions of the logs."""
    suites, sources = {}, []
    for name in files:
        with open(name, "rb") as file:
            content = file.read()
        found = read_log(content.decode("utf-8", "replace"))
        suites.update(found)
        sources.append((len(found), hashlib.sha256(content).hexdigest()))
    return suites, sources


def shortcomings(suites):
    """Returns what speaks against a release: suites that failed or were not run."""
    run = {name.split()[0] for name, figures in suites.items() if isinstance(figures, tuple)}
    for name, figures in suites.items():
        if isinstance(figures, tuple) and figures[1]:
            yield f"{name}: {figures[1]} failed"
    for suite in SUITES:
        if suite not in run:
            yield f"{suite}: not run"


def suite_lines(suites):
    """Returns the table of suites."""
    for name, figures in suites.items():
        if isinstance(figures, tuple):
            mark = " " if figures[1] else "x"
            yield f"- [{mark}] {name}: {figures[0]} passed, {figures[1]} failed, {figures[2]} s"
        else:
            yield f"- [ ] {name}: skipped, {figures}"
    names = {name.split()[0] for name in suites}
    for suite in SUITES:
        if suite not in names:
            yield f"- [ ] {suite}: not run"


def make(version, commit, checks, files, suites, sources):
    """Returns the document.  checks: lines of what was checked; files: (name, bytes,
    SHA-256)."""
    lines = [f"# zbxhist {version}", "", f"Of commit {commit}.", "", "## Checked", ""]
    lines += [f"- [x] {check}" for check in checks]
    lines += ["", "## Run", ""]
    lines += [
        f"Of a log of `scripts/test` with {count} suites, SHA-256 {digest}."
        for count, digest in sources
    ] or ["No log of `scripts/test` was given (`--log`)."]
    lines += [
        "",
        *suite_lines(suites),
        "",
        "## Made",
        "",
        "| file | bytes | SHA-256 |",
        "|---|---:|---|",
    ]
    lines += [f"| {name} | {size} | {digest} |" for name, size, digest in files]
    lines += ["", "## By hand", ""]
    lines += [
        "- [ ] `git push` of the tag, and the files to where they are published",
        "- [ ] the zip to PGXN",
        "- [ ] CHANGELOG.md: a heading for what comes next, `(unreleased)`",
    ]
    return "\n".join(lines) + "\n"
