"""One page of all results: Markdown with links to the plots, and HTML that needs no other file."""

import base64
import contextlib
import html
import io
import json
import pathlib
import re
import shutil
import tempfile

from . import results

NAME = "report"
HELP = "one page, report.md and report.html, from the results that are there"

TITLE = "What it costs to keep Zabbix's history"
INTRODUCTION = (
    "Made by `bench/run report` from the result files beside it; what each experiment does, and "
    "how the stores are set up, is in `bench/README.md`. Each result says which command made it, "
    "when and of which revision; the server's settings are in its JSON file."
)

STYLE = """
body { font-family: sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; font-size: 85%; }
th, td { padding: 0.2em 0.7em; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child { text-align: left; }
img { max-width: 100%; }
code { background: #f3f3f3; }
li.missed { color: #a00000; }
"""


def add_arguments(parser):
    """Its own options: none."""
    parser.epilog = "With --output it reads and writes there; with --quick it reports quick runs."


def load(directory, quick):
    """The results of that form, by name."""
    found = {}
    for path in sorted(directory.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        if "experiment" in result and bool(result.get("quick")) == quick:
            found[path.stem] = result
    return found


def in_order(found, modules):
    """(name, result, module) in the order of the command line's help."""
    places = {module.NAME: place for place, module in enumerate(modules)}
    known = [(name, result) for name, result in found.items() if result["experiment"] in places]
    known.sort(key=lambda pair: (places[pair[1]["experiment"]], pair[0]))
    return [(name, result, modules[places[result["experiment"]]]) for name, result in known]


def plots_of(name, names, directory):
    """A result's plots: those files that begin with its name, and with no longer one."""

    def owner(path):
        return max(
            (other for other in names if path.stem == other or path.stem.startswith(other + "-")),
            key=len,
            default=None,
        )

    return sorted(
        (path for path in directory.glob(name + "*.png") if owner(path) == name),
        key=lambda path: path.stem,
    )


def draw_missing(ordered, directory):
    """Draws the plots that are not there, as far as a result has what they show.

    Those of maintenance and pack show every INSERT, which their results do not have.
    """
    for name, result, module in ordered:
        if not hasattr(module, "draw"):
            continue
        with tempfile.TemporaryDirectory() as place:
            module.draw(result, str(pathlib.Path(place) / name))
            for path in pathlib.Path(place).glob("*.png"):
                if not (directory / path.name).exists():
                    shutil.copy(path, directory)


def shown(module, result):
    """What the experiment prints of a result: lines of headings and Markdown tables."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        module.show(result)
    return output.getvalue().strip().splitlines()


# A page is a list of blocks: (kind, content).  Kinds: "h1", "h2", "p", "code",
# "list" (of (class, text)), "table" (of rows of cells), "plot" (a path).


def blocks_of_lines(lines):
    """Paragraphs and tables of what an experiment printed."""
    blocks = []
    in_table = False
    for line in lines:
        was_table, in_table = in_table, line.startswith("|")
        if not in_table:
            if line.strip():
                blocks.append(("p", line.strip()))
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if all(re.fullmatch("-+:?", cell) for cell in cells):
            continue
        if not was_table:
            blocks.append(("table", []))
        blocks[-1][1].append(cells)
    return blocks


def blocks_of_targets(result):
    """Each target, the missed ones said plainly."""
    return (
        [
            (
                "list",
                [
                    (
                        "" if entry["met"] else "missed",
                        "%s: %.3g  (%s)"
                        % ("met" if entry["met"] else "NOT met", entry["value"], entry["target"]),
                    )
                    for entry in result["targets"]
                ],
            )
        ]
        if result.get("targets")
        else []
    )


def blocks_of_troubles(result):
    """Stores that were left out, and results that are wrong."""
    lines = [("", "left out: %s, %s" % pair) for pair in result.get("skipped", {}).items()]
    lines += [("missed", "WRONG: " + problem) for problem in result.get("problems", [])]
    return [("list", lines)] if lines else []


def provenance(result):
    """Where a result comes from."""
    versions = ", ".join("%s %s" % pair for pair in result["versions"].items())
    machine = result["machine"]
    load = machine.get("load_average")
    return "%s, revision %s.  %s, %d cores, %s GB, %s, Linux %s.%s  %s." % (
        result["date"],
        result["git_revision"],
        machine["cpu"],
        machine["cores"],
        machine["memory_gb"],
        machine["os"],
        machine["kernel"],
        "  Load average at the end %s, %s, %s." % tuple(load) if load else "",
        versions,
    )


def section(name, names, result, module, directory):
    """All blocks of one result."""
    blocks = [
        ("h2", name),
        ("p", module.HELP[0].upper() + module.HELP[1:] + "."),
        ("code", result["command"]),
        ("p", provenance(result)),
    ]
    blocks += [("plot", path) for path in plots_of(name, names, directory)]
    blocks += blocks_of_lines(shown(module, result))
    return blocks + blocks_of_targets(result) + blocks_of_troubles(result)


def missed_targets(ordered):
    """The first thing to read: what is not as it should be."""
    lines = [
        ("missed", "%s: %.3g  (%s)" % (name, entry["value"], entry["target"]))
        for name, result, _ in ordered
        for entry in result.get("targets", [])
        if not entry["met"]
    ]
    lines += [
        ("missed", "%s: %s" % (name, problem))
        for name, result, _ in ordered
        for problem in result.get("problems", [])
    ]
    text = (
        "Targets that were missed, and results that are wrong:"
        if lines
        else "Every target was met, and no store lost or refused a value."
    )
    return [("p", text)] + ([("list", lines)] if lines else [])


def overview(ordered, modules):
    """Which experiments have a result here."""
    present = [module.NAME for module in modules if module in [each for _, _, each in ordered]]
    absent = [module.NAME for module in modules if module.NAME not in present]
    return "Results here: %s.%s" % (
        ", ".join(present) or "none",
        "  None of: %s." % ", ".join(absent) if absent else "",
    )


def page(ordered, modules, directory):
    """All blocks."""
    names = [name for name, _, _ in ordered]
    blocks = [("h1", TITLE), ("p", INTRODUCTION), ("p", overview(ordered, modules))]
    blocks += missed_targets(ordered)
    for name, result, module in ordered:
        blocks += section(name, names, result, module, directory)
    return blocks


def markdown_block(kind, content):
    """One block as Markdown."""
    if kind in ("h1", "h2"):
        return "#" * int(kind[1]) + " " + content
    if kind == "code":
        return "    " + content
    if kind == "list":
        return "\n".join("* " + ("**%s**" % text if mark else text) for mark, text in content)
    if kind == "table":
        return results.table(content[0], content[1:])
    if kind == "plot":
        return "![%s](%s)" % (content.stem, content.name)
    return content


def markdown(blocks):
    """The page for readers of the repository."""
    return "\n\n".join(markdown_block(*block) for block in blocks) + "\n"


def html_text(text):
    """Text with `code`."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(text))


def html_table(rows):
    """A table; the first row is its head."""

    def line(cells, tag):
        return "<tr>%s</tr>" % "".join(
            "<%s>%s</%s>" % (tag, html_text(cell), tag) for cell in cells
        )

    return "<table>\n%s\n%s\n</table>" % (
        line(rows[0], "th"),
        "\n".join(line(row, "td") for row in rows[1:]),
    )


def html_block(kind, content):
    """One block as HTML."""
    if kind == "list":
        return "<ul>%s</ul>" % "\n".join(
            '<li class="%s">%s</li>' % (mark, html_text(text)) for mark, text in content
        )
    if kind == "table":
        return html_table(content)
    if kind == "plot":
        data = base64.b64encode(content.read_bytes()).decode()
        return '<p><img alt="%s" src="data:image/png;base64,%s"></p>' % (
            html.escape(content.stem),
            data,
        )
    if kind == "code":
        return "<pre><code>%s</code></pre>" % html.escape(content)
    return "<%s>%s</%s>" % (kind, html_text(content), kind)


def html_page(blocks):
    """The page that stands alone."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<title>%s</title>\n<style>%s</style>\n</head>\n<body>\n%s\n</body>\n</html>\n"
        % (html.escape(TITLE), STYLE, "\n".join(html_block(*block) for block in blocks))
    )


def run(arguments):
    """Writes both pages."""
    from .cli import EXPERIMENTS

    directory = pathlib.Path(arguments.output) if arguments.output else results.RESULTS
    modules = [module for module in EXPERIMENTS if hasattr(module, "show")]
    ordered = in_order(load(directory, arguments.quick), modules)
    draw_missing(ordered, directory)
    blocks = page(ordered, modules, directory)
    name = arguments.name or NAME + ("-quick" if arguments.quick else "")
    for suffix, text in ((".md", markdown(blocks)), (".html", html_page(blocks))):
        path = results.path_of(name, suffix, arguments.output)
        path.write_text(text, encoding="utf-8")
        print("saved as " + path.name)
    return 0
