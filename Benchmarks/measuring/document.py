"""Writes measured parts of the documents, between comments that name them."""
import json
import pathlib
import statistics

from .machine import ROOT

FIGURES = ROOT / "Benchmarks/figures"
IMAGES = ROOT / "docs/images"


def table(heads, rows, left=1):
    """A Markdown table; columns after the first `left` are numbers."""
    lines = ["| " + " | ".join(heads) + " |"]
    lines.append("| " + " | ".join(["---"] * left + ["---:"] * (len(heads) - left)) + " |")
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def replace(path, name, text):
    """Puts text between `<!-- begin NAME -->` and `<!-- end NAME -->`."""
    path = pathlib.Path(path)
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    before, found, rest = path.read_text().partition(begin)
    old, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{path} has no place for {name}: {begin} … {end}")
    path.write_text(f"{before}{begin}\n{text.strip()}\n{end}{after}")


def keep(name, figures):
    """Keeps figures for the programs that compute with them."""
    FIGURES.mkdir(exist_ok=True)
    (FIGURES / f"{name}.json").write_text(json.dumps(figures, indent=1) + "\n")


def kept(name):
    return json.loads((FIGURES / f"{name}.json").read_text())


def doubt(foreign):
    """A sentence, where other processes had so much of the cores that figures can't be trusted."""
    return "**The machine was busy with other things, so these figures are doubtful.** " if foreign > 0.2 else ""


def median(values):
    return statistics.median(values)


def spread(values):
    """How far apart the highest and the lowest are, in parts of the median."""
    middle = statistics.median(values)
    return (max(values) - min(values)) / middle if middle else 0.0


def number(value):
    """With about three digits."""
    if value >= 1000:
        return f"{value:,.0f}"
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
