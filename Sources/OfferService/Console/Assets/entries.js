// SPDX-License-Identifier: Apache-2.0
// Search: entries by all conditions, newest first, page by page; and files to take away.

import { badge, announce, element, instant, notice, paragraph, replace, table, value } from "./elements.js";
import { followButton } from "./follow.js";
import { groupPanel } from "./groups.js";
import { knownNames, nearest } from "./names.js";
import { fill, troubleNotice } from "./panels.js";
import { asked, changed, conditions } from "./query.js";
import { savedPanel } from "./saved.js";
import { conditionsInForce, groupings, readsSwitch, searchForm, timeChoices } from "./search.js";
import { getFile, getJSON } from "./service.js";
import { eventName, outcomeName, reasonOf } from "./words.js";

const pageSize = 50;

function outcomeOf(entry) {
  if (entry.outcome) return badge("warn", outcomeName(entry.outcome));
  if (entry.allow === false) return badge("warn", "denied, signed");
  if (entry.ev === "sign.intent" || entry.ev === "authorize.intent") return badge("good", "granted");
  if (entry.ev === "sign.failed") return badge("bad", "failed");
  if (entry.match === "none" || entry.match === "other-account") return badge("bad", "no fitting grant");
  return "";
}

/** Entries as rows, each with a link to itself. */
export function entryTable(found) {
  return table(
    "Entries",
    [{ title: "Entry", number: true }, { title: "Time (UTC)" }, { title: "Event" }, { title: "Caller" }, { title: "Key" }, { title: "Offer" }, { title: "Outcome" }, { title: "Reason" }],
    found.map(({ index, entry }) => [
      element("a", { href: `#/entries/${Number(index)}`, "aria-label": `Entry ${Number(index)}` }, `#${Number(index)}`),
      instant(entry.t),
      [value(eventName(entry.ev)), element("small", { class: "code" }, value(entry.ev))],
      entry.caller ? value(entry.caller) : "",
      entry.kid ? value(entry.kid, "value mono") : "",
      [entry.offer && element("div", null, value(entry.offer)), entry.product && element("div", { class: "hint" }, value(entry.product))],
      outcomeOf(entry),
      reasonOf(entry) ? value(reasonOf(entry)) : "",
    ]),
    { class: "cards entries" },
  );
}

const megabytes = (count) => `${(count / 1_000_000).toFixed(1)} MB`;

/** Everything that a search finds, as a file; it is read while the service sends it. */
async function download(query, format, messages, signal) {
  const report = (count) => replace(messages, element("p", { class: "waiting" }, `Fetching the file: ${megabytes(count)} …`));
  report(0);
  try {
    const blob = await getFile("v1/audit/entries", { ...asked(query), format }, report, signal);
    const address = URL.createObjectURL(blob);
    const link = element("a", { download: `entries.${format}` });
    link.href = address;
    link.click();
    URL.revokeObjectURL(address);
    replace(messages, paragraph(`entries.${format} was downloaded, ${megabytes(blob.size)}; the export is on record.`));
  } catch (error) {
    if (error.name !== "AbortError") replace(messages, troubleNotice(error));
  }
}

// The service looks at a limited number of entries for one answer. While it has found nothing and has more, the page asks on.
async function firstPage(query, signal) {
  let cursor = query.get("cursor");
  for (;;) {
    const page = await getJSON("v1/audit/entries", { ...asked(query), limit: pageSize, cursor }, signal);
    if (page.entries.length > 0 || !page.next) return page;
    cursor = page.next;
    announce("Nothing yet; still looking");
  }
}

/** What is probably mistyped, where nothing was found: a name that no entry has. */
async function slips(unknown, query, session) {
  if (!unknown?.length) return null;
  const names = await knownNames(session);
  return notice("warn", "Something may be mistyped", unknown.map((field) => {
    const label = conditions.find(({ name }) => name === field)?.label ?? field;
    const meant = nearest(query.get(field) ?? "", names[field] ?? []);
    const known = names[field]?.includes(query.get(field));
    return paragraph(
      `${label}: no entry has `, value(query.get(field)), ". ",
      known && "It is known to the service, but nothing was recorded of it. ",
      !known && meant && ["Did you mean ", element("a", { href: changed(query, { [field]: meant }) }, value(meant)), "?"],
    );
  }));
}

async function nothingFound(page, query, session) {
  return [
    await slips(page.unknown, query, session),
    paragraph(
      "No entry meets these conditions. Remove a condition, choose a longer time, or ",
      element("a", { href: "#/entries" }, "start again"),
      ". Names must be complete: part of a name finds nothing.",
    ),
  ];
}

async function results(query, session, signal, noteSize) {
  const page = await firstPage(query, signal);
  noteSize(page.size);
  announce(page.entries.length ? `${page.entries.length} entries shown` : "No entries found");
  if (page.entries.length === 0) return nothingFound(page, query, session);
  const messages = element("div", { "aria-live": "polite" });
  const button = (format, name) =>
    element("button", { type: "button", click: () => download(query, format, messages, signal) }, name);
  return [
    entryTable(page.entries),
    element(
      "nav",
      { class: "pages", "aria-label": "Pages" },
      query.get("cursor") && element("a", { href: changed(query, {}) }, "First page"),
      page.next && element("a", { href: changed(query, { cursor: page.next }), rel: "next" }, "Next page"),
      !page.next && element("span", { class: "hint" }, "That is all."),
    ),
    element(
      "div",
      { class: "buttons" },
      button("csv", "Download CSV"),
      button("ndjson", "Download NDJSON"),
      element("span", { class: "hint" }, "all entries of this search, however many"),
    ),
    messages,
  ];
}

const isWide = () => matchMedia("(min-width: 44rem)").matches;

export function entries(body, { route, session, signal, title }) {
  const { query } = route;
  const grouping = groupings.find((grouping) => grouping.query === query.get("group"));
  const key = query.get("key");
  if (key) replace(title, "Entries of key ", value(key, "value mono"));
  const found = element("div", { class: "panel-body" });
  let size = 0;
  const load = () => results(query, session, signal, (newest) => { size = newest; });
  void fill(found, load, signal);
  const follows = query.get("order") !== "oldest" && !query.get("cursor");
  const isSearch = [...query.keys()].length > 0;
  body.append(
    element(
      "section",
      { class: "panel" },
      element(
        "details",
        { open: !isSearch && isWide() },
        element("summary", null, element("h2", null, "Search")),
        searchForm(query, session),
      ),
      element("div", null, savedPanel(query)),
    ),
    timeChoices(query),
    conditionsInForce(query) || "",
    grouping ? groupPanel(query, grouping, signal) : "",
    element(
      "section",
      { "aria-labelledby": "found", class: "panel" },
      element("h2", { id: "found" }, query.get("order") === "oldest" ? "Oldest first" : "Newest first"),
      element(
        "div",
        { class: "buttons reads" },
        follows && followButton({ sizeShown: () => size, refresh: async () => fill(found, load, signal, { keeps: true }), signal }),
        element("span", { class: "hint" }, readsSwitch(query)),
      ),
      found,
    ),
  );
}
