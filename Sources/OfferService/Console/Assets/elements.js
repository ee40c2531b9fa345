// SPDX-License-Identifier: Apache-2.0
// How anything gets onto the page: as text. No markup is ever read from a string.

import { formatted, localTime } from "./times.js";

/** Whatever is invisible, changes the direction of text, or is a space other than the ordinary one. */
const odd = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;

const codeOf = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** The text with odd characters written as their codes, for attributes and titles. */
export const plain = (text) => String(text).replace(odd, (character) => `[${codeOf(character)}]`);

/** The text for the page: odd characters become marked codes. */
function nodes(text) {
  const fragment = document.createDocumentFragment();
  let last = 0;
  for (const match of String(text).matchAll(odd)) {
    fragment.append(text.slice(last, match.index));
    const mark = document.createElement("span");
    mark.className = "odd";
    mark.textContent = codeOf(match[0]);
    fragment.append(mark);
    last = match.index + match[0].length;
  }
  fragment.append(text.slice(last));
  return fragment;
}

function append(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : nodes(String(child)));
  }
}

function setAttribute(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") node.addEventListener(name, value);
  else if (name === "value") node.value = value;
  else if (name === "href" && !String(value).startsWith("#")) throw new Error("links stay on this page");
  else if (/^(on|style$|src)/.test(name)) throw new Error(`no ${name} here`);
  else node.setAttribute(name, value === true ? "" : name === "href" ? value : plain(value));
}

function make(namespace, name, attributes, children) {
  const node = document.createElementNS(namespace, name);
  for (const [key, value] of Object.entries(attributes ?? {})) setAttribute(node, key, value);
  append(node, children);
  return node;
}

/** An HTML element: attributes (a function listens to the event of that name), then children. */
export const element = (name, attributes, ...children) =>
  make("http://www.w3.org/1999/xhtml", name, attributes, children);

/** An SVG element. */
export const svg = (name, attributes, ...children) => make("http://www.w3.org/2000/svg", name, attributes, children);

/** Something out of the record: set apart, so that its direction can't spill over. */
export const value = (text, className = "value") => element("bdi", { class: className }, text ?? "–");

/** A time in UTC, with the reader's own below it. */
export function instant(at) {
  const local = localTime(at);
  const date = new Date(at);
  return element(
    "time",
    { datetime: Number.isNaN(date.getTime()) ? null : date.toISOString() },
    formatted(at),
    local && element("small", { class: "local" }, local),
  );
}

/** Text with its own line ends, such as a checkpoint, and a button that copies exactly that. */
export function copyable(text, label) {
  const lines = text.split("\n").flatMap((line, place) => (place === 0 ? [line] : [document.createTextNode("\n"), line]));
  const shown = element("pre", { tabindex: "0", "aria-label": label }, lines);
  const copy = async (event) => {
    const button = event.currentTarget;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      announce(`${label} is copied`);
    } catch {
      // Over plain HTTP there is no clipboard; what is selected can be copied by hand.
      getSelection().selectAllChildren(shown);
      button.textContent = "Selected; copy it with the keyboard";
    }
  };
  return [shown, element("div", { class: "buttons" }, element("button", { type: "button", class: "copy", click: copy }, "Copy"))];
}

export const paragraph = (...children) => element("p", null, ...children);

/** A part of a view, with its heading. */
export function section(title, id, ...children) {
  return element("section", { "aria-labelledby": id }, element("h2", { id }, title), ...children);
}

/** A label with its control; `control` needs an id. */
export const field = (label, control, hint) =>
  element(
    "div",
    { class: "field" },
    element("label", { for: control.id }, label),
    control,
    hint && element("p", { class: "hint", id: `${control.id}-hint` }, hint),
  );

/** What a cell is sorted by: its text, or the number in it. */
function sortKey(row, place, isNumber) {
  const text = row.cells[place].textContent;
  if (!isNumber) return text.toLowerCase();
  const number = Number(text.replace(/[^\d.-]/g, "") || NaN);
  return Number.isNaN(number) ? -Infinity : number;
}

/** A heading that sorts the rows below by its column, and the other way round the next time. */
function sortingHead(column, place) {
  const sort = (event) => {
    const head = event.currentTarget.closest("th");
    const body = head.closest("table").tBodies[0];
    const isDescending = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
    const rows = [...body.rows].map((row) => ({ row, key: sortKey(row, place, column.number) }));
    rows.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0) * (isDescending ? -1 : 1));
    body.append(...rows.map(({ row }) => row));
    announce(`Sorted by ${column.title}, ${isDescending ? "descending" : "ascending"}`);
  };
  return element("button", { type: "button", class: "sort", click: sort, title: "Sort the rows shown" }, column.title);
}

/** A table whose cells know the name of their column, for screens too narrow for columns, and whose headings sort. */
export function table(caption, columns, rows, options = {}) {
  const sorts = rows.length > 1;
  const head = columns.map((column, place) =>
    element(
      "th",
      { scope: "col", class: column.number && "number" },
      sorts && column.title ? sortingHead(column, place) : column.title,
    ),
  );
  const body = rows.map((cells) =>
    element(
      "tr",
      null,
      cells.map((cell, place) =>
        element(
          place === 0 ? "th" : "td",
          {
            scope: place === 0 && "row",
            "data-column": columns[place].title,
            class: columns[place].number && "number",
          },
          cell,
        ),
      ),
    ),
  );
  return element(
    "table",
    { class: options.class },
    element("caption", { class: options.showsCaption ? null : "visually-hidden" }, caption),
    element("thead", null, element("tr", null, head)),
    element("tbody", null, body),
  );
}

/** Names and values, one below the other. */
export const facts = (pairs) =>
  element(
    "dl",
    { class: "facts" },
    pairs.filter(Boolean).map(([name, content]) => [element("dt", null, name), element("dd", null, content)]),
  );

/** A state, as a sign and a word, so that color alone does not show it. */
export function badge(kind, text) {
  const signs = { good: "✓", bad: "✗", warn: "!", neutral: "?" };
  return element("span", { class: `badge ${kind}` }, element("span", { "aria-hidden": "true" }, signs[kind]), ` ${text}`);
}

/** Something that went well, or not, with what to do about it. */
export const notice = (kind, title, ...children) =>
  element("div", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : null }, element("strong", null, title), children);

/** Tells screen readers what has changed. */
export function announce(text) {
  document.getElementById("status").textContent = plain(text);
}

export function replace(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}
