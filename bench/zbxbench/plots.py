"""Plots in one style; a store has the same colour in all of them."""

import io
import textwrap

import matplotlib
from PIL import Image

matplotlib.use("Agg")
matplotlib.rcParams["axes.labelsize"] = 9
matplotlib.rcParams["legend.fontsize"] = 8
matplotlib.rcParams["legend.frameon"] = False
from matplotlib import pyplot, ticker  # noqa: E402

# Okabe and Ito's palette, which people with any colour vision can read, and related shades;
# databases other than PostgreSQL are black, olive, violet and similar
COLOURS = {
    "zbxhist": "#D55E00",
    "zbxhist-trigger": "#F0E442",
    "zbxhist-rows": "#E69F00",
    "zbxhist-packed": "#E7298A",
    "zbxhist-packed-ms": "#F781BF",
    "zbxhist-packed-s": "#FDB9D9",
    "zbxhist-day": "#E69F00",
    "zbxhist-hour-compacted": "#7A0177",
    "zbxhist-setup": "#D55E00",
    "native": "#0072B2",
    "partman": "#56B4E9",
    "plain": "#009E73",
    "plpgsql": "#CC79A7",
    "timescaledb": "#8F6FE0",
    "mariadb": "#000000",
    "mariadb-partitioned": "#7A7A00",
}
OTHER = "#444444"
COLOURS_IN_FILE = 128


def colour(name):
    """The colour of a store."""
    return COLOURS.get(name, OTHER)


def _thousands(value, _):
    """A number at an axis."""
    return "{:,.0f}".format(value) if value == int(value) else "%g" % value


def panels(count, width=7.0, height=2.4):
    """Empty plots below each other with a common horizontal axis; heights are those of the
    plots."""
    fig, rows = pyplot.subplots(
        count, 1, figsize=(width, height * count), sharex=True, constrained_layout=True
    )
    for axes in rows:
        _dress(axes)
    return fig, rows


def figure(width=7.0, height=3.6):
    """An empty plot of the common size."""
    fig, axes = pyplot.subplots(figsize=(width, height), constrained_layout=True)
    _dress(axes)
    return fig, axes


def _dress(axes):
    """The common style of axes."""
    axes.grid(True, axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8)
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(_thousands))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def grid(rows, columns, width=11.0, height=3.0):
    """Empty plots in rows and columns; heights are those of the plots."""
    fig, plots = pyplot.subplots(
        rows, columns, figsize=(width, height * rows), constrained_layout=True, squeeze=False
    )
    for axes in plots.flat:
        _dress(axes)
    return fig, plots


class _PlainLogFormatter(ticker.LogFormatter):
    """0.5 instead of 5e-01."""

    def __call__(self, x, pos=None):
        return "%g" % x if super().__call__(x, pos) else ""


def logarithmic_x(axes):
    """The same for a horizontal axis."""
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(_PlainLogFormatter(minor_thresholds=(2, 1)))
    axes.xaxis.set_minor_formatter(_PlainLogFormatter(minor_thresholds=(2, 1)))
    axes.tick_params(axis="x", which="both", labelsize=8)


def logarithmic_y(axes):
    """A logarithmic axis with plain numbers."""
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(_PlainLogFormatter(minor_thresholds=(2, 1)))
    axes.yaxis.set_minor_formatter(_PlainLogFormatter(minor_thresholds=(2, 1)))
    axes.tick_params(axis="y", which="both", labelsize=8)


def wrapped(label, width=12):
    """A label in short lines, for below an axis."""
    return "\n".join(textwrap.wrap(label, width, break_long_words=False))


def legend_beside(axes):
    """A legend that covers no data."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def errors(spreads):
    """Error bars from spreads: below and above the median."""
    return [
        [spread["median"] - spread["min"] for spread in spreads],
        [spread["max"] - spread["median"] for spread in spreads],
    ]


def bars(axes, names, labels, spreads):
    """A bar per store: the median, an error bar, and the number on top."""
    medians = [spread["median"] for spread in spreads]
    axes.bar(
        range(len(names)),
        medians,
        color=[colour(name) for name in names],
        yerr=errors(spreads),
        ecolor="#333333",
        capsize=3,
    )
    axes.set_xticks(range(len(names)))
    axes.set_xticklabels([wrapped(label) for label in labels], fontsize=8)
    for place, spread in enumerate(spreads):
        axes.annotate(
            (
                "%.3g" % spread["median"]
                if spread["median"] < 1000
                else "{:,.0f}".format(spread["median"])
            ),
            (place, spread["max"]),
            ha="center",
            va="bottom",
            fontsize=8,
            xytext=(0, 2),
            textcoords="offset points",
        )


def save(fig, path_stem):
    """Writes a PNG with a small palette."""
    image = io.BytesIO()
    fig.savefig(image, format="png", dpi=120)
    pyplot.close(fig)
    Image.open(image).convert("RGB").quantize(COLOURS_IN_FILE, dither=Image.Dither.NONE).save(
        "%s.png" % path_stem, optimize=True
    )
