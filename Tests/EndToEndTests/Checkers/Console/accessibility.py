# SPDX-License-Identifier: Apache-2.0
"""What a page must have so that all people can use it; measured on the page as the browser shows it.

After WCAG 2.2: 1.3.1 and 4.1.2 (names), 1.4.3 (contrast of text, 4.5), 1.4.10 (no sideways scrolling), 1.4.11 (contrast
of controls and of what charts are made of, 3), 2.4.6 (headings).
"""
CONTRAST = r"""
const channel = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const ratio = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
const read = (text) => {
  const numbers = (text.match(/[\d.]+/g) ?? []).map(Number);
  return text.startsWith("rgb") ? [...numbers.slice(0, 3), numbers[3] ?? 1] : [0, 0, 0, 0];
};
const over = ([r, g, b, a], below) => [r, g, b].map((c, i) => c * a + below[i] * (1 - a));
function ground(node) {
  const layers = [];
  for (let at = node; at; at = at.parentElement) layers.push(read(getComputedStyle(at).backgroundColor));
  return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
}
const problems = [];
const name = (node) => `${node.tagName.toLowerCase()}${node.id ? "#" + node.id : ""}.${node.getAttribute("class") ?? ""}`;
let texts = 0;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const parent = node.parentElement;
  if (!node.data.trim() || !parent.checkVisibility({ visibilityProperty: true }) || parent.closest(".visually-hidden")
    || parent.closest("title")) continue;
  const style = getComputedStyle(parent);
  const below = ground(parent);
  const color = over(read(parent instanceof SVGElement ? style.fill : style.color), below);
  const found = ratio(color, below);
  texts += 1;
  if (found < 4.5) problems.push(`contrast ${found.toFixed(2)} of “${node.data.trim().slice(0, 40)}” in ${name(parent)}`);
}
for (const node of document.querySelectorAll("input, select, textarea, button")) {
  if (!node.checkVisibility()) continue;
  const found = ratio(over(read(getComputedStyle(node).borderTopColor), ground(node.parentElement)), ground(node.parentElement));
  if (found < 3) problems.push(`contrast ${found.toFixed(2)} of the border of ${name(node)}`);
}
for (const node of document.querySelectorAll("rect.bar, .share rect")) {
  const below = ground(node.closest("div, td, section"));
  const found = ratio(over(read(getComputedStyle(node).fill), below), below);
  if (found < 3) problems.push(`contrast ${found.toFixed(2)} of ${name(node)}`);
}
if (texts < 5) problems.push("there is hardly any text");
return [...new Set(problems)];
"""

STRUCTURE = r"""
const problems = [];
const name = (node) => `${node.tagName.toLowerCase()}${node.id ? "#" + node.id : ""}`;
for (const node of document.querySelectorAll("input, select, textarea")) {
  const labels = [...(node.labels ?? [])].map((label) => label.textContent.trim()).join("");
  if (!labels && !node.getAttribute("aria-label")) problems.push(`${name(node)} has no label`);
}
for (const node of document.querySelectorAll("a, button, summary")) {
  if (!node.textContent.trim() && !node.getAttribute("aria-label")) problems.push(`${name(node)} has no name`);
}
for (const node of document.querySelectorAll("svg")) {
  if (!node.getAttribute("aria-hidden") && !node.getAttribute("aria-label")) problems.push("a drawing has no name");
}
for (const node of document.querySelectorAll("table")) {
  if (!node.querySelector("caption")?.textContent) problems.push("a table has no caption");
}
const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) problems.push(`two elements have the id ${id}`);
for (const node of document.querySelectorAll("[aria-labelledby], [aria-describedby]")) {
  for (const id of `${node.getAttribute("aria-labelledby") ?? ""} ${node.getAttribute("aria-describedby") ?? ""}`.trim().split(/\s+/)) {
    if (!document.getElementById(id)) problems.push(`${name(node)} refers to #${id}, which is not there`);
  }
}
const levels = [...document.querySelectorAll("h1, h2, h3, h4")].filter((node) => node.checkVisibility())
  .map((node) => Number(node.tagName[1]));
if (levels.filter((level) => level === 1).length !== 1) problems.push("there must be one main heading");
levels.forEach((level, place) => { if (place && level > levels[place - 1] + 1) problems.push(`a heading of level ${level} has none above it`); });
for (const selector of ["html[lang]", "title", "main", "header", "[role=status][aria-live]"]) {
  if (!document.querySelector(selector)) problems.push(`there is no ${selector}`);
}
const { scrollWidth, clientWidth } = document.documentElement;
if (scrollWidth > clientWidth) problems.push(`the page is ${scrollWidth} wide in a window of ${clientWidth}`);
for (const node of document.querySelectorAll("main *")) {
  if (node.closest(".scrolling, .visually-hidden, svg") || !node.checkVisibility()) continue;
  const box = node.getBoundingClientRect();
  if (box.width > 1 && (box.right > clientWidth + 1 || box.left < -1) && getComputedStyle(node).clipPath === "none"
    && !node.closest("thead")) problems.push(`${name(node)}.${node.className} sticks out, to ${Math.round(box.right)}`);
}
return [...new Set(problems)];
"""

NEEDS_NAME = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "listbox", "dialog", "region", "navigation",
              "table", "form", "search"}


def problems_of(browser):
    """All problems of what is shown now."""
    found = browser.run(STRUCTURE) + browser.run(CONTRAST)
    nodes = browser.devtools("Accessibility.getFullAXTree")["nodes"]
    for node in nodes:
        role = node.get("role", {}).get("value")
        if not node.get("ignored") and role in NEEDS_NAME and not node.get("name", {}).get("value"):
            found.append(f"to a screen reader, a {role} has no name")
    return found
