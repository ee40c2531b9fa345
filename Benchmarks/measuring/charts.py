"""Plots as SVG text, readable on light and dark pages: colours follow what the reader's system prefers."""
import math
from xml.sax.saxutils import escape

WIDTH = 760
STYLE = """
  .page { fill: #ffffff } .text { fill: #24292f } .quiet { fill: #57606a } .grid { stroke: #d8dee4 }
  .own { fill: #0b62c4 } .other { fill: #8a949e } .ownline { stroke: #0b62c4 } .otherline { stroke: #8a949e }
  .aim { stroke: #b35900 } .aimtext { fill: #b35900 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } .text { fill: #e6edf3 } .quiet { fill: #9198a1 } .grid { stroke: #30363d }
    .own { fill: #4493f8 } .other { fill: #7d8590 } .ownline { stroke: #4493f8 } .otherline { stroke: #7d8590 }
    .aim { stroke: #e09b4d } .aimtext { fill: #e09b4d }
  }
  text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif }
  .title { font-size: 15px; font-weight: 600 } .small { font-size: 12px } .strong { font-weight: 600 }
"""


class Drawing:
    def __init__(self, title, description, height):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
            f'aria-labelledby="title description">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="description">{escape(description)}</desc>',
            f"<style>{STYLE}</style>",
            f'<rect class="page" width="{WIDTH}" height="{height}" rx="6"/>',
        ]
        self.text(16, 28, title, "text title")

    def text(self, x, y, text, kind="text", anchor="start"):
        place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
        self.parts.append(f'<text class="{kind}" {place}>{escape(str(text))}</text>')

    def line(self, x1, y1, x2, y2, kind="grid", width=1, dashes=None):
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'stroke-width="{width}"{dash}/>')

    def bar(self, x, y, width, height, kind):
        place = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{height:.1f}"'
        self.parts.append(f'<rect class="{kind}" {place} rx="2"/>')

    def dot(self, x, y, kind, radius=4.5):
        self.parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>')

    def write(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(self.parts + ["</svg>"]) + "\n")


def short(value):
    """A number as an axis has it: 0.2, 5, 10,000."""
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def steps(highest, most=6):
    """Round values from zero up to a value."""
    for power in range(-3, 9):
        for factor in (1, 2, 5):
            step = factor * 10 ** power
            if highest / step <= most:
                return [step * count for count in range(int(highest / step) + 1)]
    return [0]


def bars(path, title, description, unit, rows, aim=None):
    """One bar for each row: label, value, lowest, highest, whether it is ours; `aim` is a value and what it is."""
    left, top, step = 190, 78, 34
    height = top + step * len(rows) + 34
    drawing = Drawing(title, description, height)
    drawing.text(16, 46, unit, "quiet small")
    scale = (WIDTH - left - 70) / max(row[3] for row in rows)
    for value in steps(max(row[3] for row in rows)):
        drawing.line(left + value * scale, top - 4, left + value * scale, height - 30)
        drawing.text(left + value * scale, height - 14, short(value), "quiet small", "middle")
    for number, (label, value, lowest, highest, is_ours) in enumerate(rows):
        y = top + number * step
        drawing.text(left - 10, y + 16, label, "text strong" if is_ours else "text", "end")
        drawing.bar(left, y + 3, value * scale, 18, "own" if is_ours else "other")
        drawing.line(left + lowest * scale, y + 25, left + highest * scale, y + 25,
                     "ownline" if is_ours else "otherline", 2)
        drawing.text(left + max(value, highest) * scale + 8, y + 17, f"{value:.1f}", "text small")
    if aim:
        x = left + aim[0] * scale
        drawing.line(x, top - 8, x, height - 30, "aim", 1.5, "4 3")
        drawing.text(x + 5, top - 8, aim[1], "aimtext small")
    drawing.write(path)


def dots(path, title, description, unit, columns, rows):
    """Values of each row on one logarithmic axis, joined: label, values in the order of `columns`, whether it is ours."""
    left, top, step = 190, 66, 34
    height = top + step * len(rows) + 34
    drawing = Drawing(title, description, height)
    drawing.text(16, 46, f"{unit}; from left to right: {', '.join(columns)}", "quiet small")
    values = [value for row in rows for value in row[1]]
    lowest, highest = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values) * 1.001))
    scale = (WIDTH - left - 60) / (highest - lowest)
    place = lambda value: left + (math.log10(value) - lowest) * scale
    for power in range(lowest, highest + 1):
        drawing.line(place(10 ** power), top - 6, place(10 ** power), height - 30)
        drawing.text(place(10 ** power), height - 14, short(10 ** power), "quiet small", "middle")
    for number, (label, row, is_ours) in enumerate(rows):
        y = top + number * step + 12
        drawing.text(left - 10, y + 4, label, "text strong" if is_ours else "text", "end")
        drawing.line(place(row[0]), y, place(row[-1]), y, "ownline" if is_ours else "otherline", 2)
        for value in row:
            drawing.dot(place(value), y, "own" if is_ours else "other")
        drawing.text(place(row[-1]) + 9, y + 4, three(row[-1]), "text small")
    drawing.write(path)


def three(value):
    """A number with about three digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def panels(path, title, description, unit, series, aim=None):
    """Small plots of ratios side by side: each a name, what is counted, and points of size, ratio, lowest, highest."""
    columns = 2
    width, tall = (WIDTH - 32) / columns, 190
    rows = math.ceil(len(series) / columns)
    drawing = Drawing(title, description, 56 + rows * tall)
    drawing.text(16, 46, unit, "quiet small")
    top_value = max([1.5] + [point[3] for one in series for point in one[1]]) * 1.08
    for number, (name, points) in enumerate(series):
        x, y = 16 + (number % columns) * width, 62 + (number // columns) * tall
        left, right, top, bottom = x + 34, x + width - 28, y + 26, y + tall - 34
        drawing.text(x + 34, y + 12, name, "text strong")
        level = lambda value: bottom - value / top_value * (bottom - top)
        for value in steps(top_value, 5):
            drawing.line(left, level(value), right, level(value))
            drawing.text(left - 6, level(value) + 4, f"{value:g}", "quiet small", "end")
        if aim and aim[0] == name:
            drawing.line(left, level(aim[1]), right, level(aim[1]), "aim", 1.5, "4 3")
            drawing.text(right, level(aim[1]) - 5, f"aim {aim[1]:g}", "aimtext small", "end")
        spread = (right - left - 40) / max(1, len(points) - 1)
        places = [(left + 20 + count * spread, point) for count, point in enumerate(points)]
        for (x1, before), (x2, after) in zip(places, places[1:]):
            drawing.line(x1, level(before[1]), x2, level(after[1]), "ownline", 2)
        for place, (size, value, lowest, highest) in places:
            drawing.line(place, level(lowest), place, level(highest), "ownline", 1)
            drawing.dot(place, level(value), "own", 4)
            drawing.text(place, level(highest) - 8, f"{value:.2f}", "text small", "middle")
            drawing.text(place, bottom + 17, f"{size:,}", "quiet small", "middle")
    drawing.write(path)
