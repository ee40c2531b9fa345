// SPDX-License-Identifier: Apache-2.0
// Search: entries by all conditions, newest first, page by page; who is behind them; and files to take away.

import { grouped } from "./chart.js";
import { announce, badge, element, field, paragraph, replace, table, value } from "./elements.js";
import { fill, troubleNotice } from "./panels.js";
import { getBlob, getJSON } from "./service.js";
import { formatted, fromInput, presets, recentDays, rfc3339, toInput } from "./times.js";

const events = [
  "sign.intent", "sign.deny", "sign.failed", "authorize.intent", "authorize.deny", "service.start", "service.stop",
  "service.seal", "service.sealed", "service.unseal", "clock.step", "key.load", "key.disable", "key.disabled", "key.enable",
  "config.load", "config.refuse", "caller.create", "caller.key", "caller.revoke", "audit.read", "audit.fetch",
  "audit.export", "audit.resume", "log.restarted", "ledger.moved", "ledger.left", "noise", "refusals", "epoch.begin", "epoch.destroy", "customer.lookup",
  "customer.transferred", "subscription.transferred", "store.notification", "store.token", "offer.redemption",
];
const conditions = [
  { name: "event", label: "Event" },
  { name: "key", label: "Key" },
  { name: "caller", label: "Caller" },
  { name: "offer", label: "Offer (the store's id)" },
  { name: "product", label: "Product" },
  { name: "rule", label: "Rule (the catalogue's id)" },
  { name: "outcome", label: "Outcome", choices: ["notEligible", "undecided", "eligible"] },
  { name: "bundle", label: "Bundle id" },
  { name: "package", label: "Package name" },
  { name: "user", label: "User (pseudonym)" },
  { name: "nonce", label: "Nonce" },
  { name: "digest", label: "Digest" },
  { name: "grant", label: "Grant" },
  { name: "request", label: "Request" },
];
const groupings = [
  { query: "caller", name: "caller", member: "caller" },
  { query: "key", name: "key", member: "kid" },
  { query: "offer", name: "offer", member: "offer" },
  { query: "rule", name: "rule", member: "rule" },
  { query: "event", name: "event", member: "ev" },
];
const pageSize = 50;
const [groupedPage, groupedLimit] = [500, 5000];

/** The address of a search. */
export function entriesLink(query) {
  const given = Object.entries(query).filter(([, text]) => text);
  return given.length ? `#/entries?${new URLSearchParams(given)}` : "#/entries";
}

/** What a page's address asks the service for. */
function asked(query) {
  const names = [...conditions.map(({ name }) => name), "from", "until"];
  const given = Object.fromEntries(names.map((name) => [name, query.get(name)]).filter(([, text]) => text));
  return { ...given, order: query.get("order") === "oldest" ? "oldest" : "newest" };
}

const changed = (query, changes) => entriesLink({ ...Object.fromEntries(query), cursor: null, ...changes });

// MARK: - The form

function control({ name, choices }, query) {
  const id = `condition-${name}`;
  if (!choices) {
    return element("input", {
      id, name, value: query.get(name) ?? "", autocomplete: "off", spellcheck: "false", list: name === "event" && "events",
    });
  }
  const options = ["", ...choices].map((choice) =>
    element("option", { value: choice, selected: choice === (query.get(name) ?? "") }, choice || "any"),
  );
  return element("select", { id, name }, options);
}

const timeInput = (name, query) =>
  element("input", { id: `condition-${name}`, name, type: "datetime-local", step: "1", value: toInput(query.get(name)) });

function searchForm(query) {
  const order = element(
    "select",
    { id: "condition-order", name: "order" },
    [["newest", "newest first"], ["oldest", "oldest first"]].map(([value, name]) =>
      element("option", { value, selected: value === query.get("order") }, name),
    ),
  );
  const group = element(
    "select",
    { id: "condition-group", name: "group" },
    element("option", { value: "" }, "nothing"),
    groupings.map(({ query: value, name }) => element("option", { value, selected: value === query.get("group") }, name)),
  );
  const submit = (event) => {
    event.preventDefault();
    const given = Object.fromEntries([...new FormData(event.target)].map(([name, text]) => [name, text.trim()]));
    for (const name of ["from", "until"]) {
      const instant = fromInput(given[name]);
      given[name] = instant === null ? null : rfc3339(instant);
    }
    const address = entriesLink({ ...given, order: given.order === "oldest" ? "oldest" : null });
    if (address === location.hash) document.dispatchEvent(new CustomEvent("reload-view"));
    else location.hash = address;
  };
  return element(
    "form",
    { class: "search", submit, role: "search", "aria-label": "Search entries" },
    element("datalist", { id: "events" }, events.map((event) => element("option", { value: event }))),
    element("div", { class: "grid" }, conditions.map((condition) => field(condition.label, control(condition, query)))),
    element(
      "div",
      { class: "grid" },
      field("From (UTC)", timeInput("from", query)),
      field("Until (UTC), not included", timeInput("until", query)),
      field("Order", order),
      field("Group by", group),
    ),
    element(
      "div",
      { class: "buttons" },
      element("button", { type: "submit", class: "main" }, "Search"),
      element("a", { href: "#/entries" }, "Clear"),
    ),
  );
}

/** The conditions in force, each with a way to take it away. */
function conditionsInForce(query) {
  const given = [...conditions, { name: "from", label: "From" }, { name: "until", label: "Until" }]
    .map(({ name, label }) => ({ name, label, text: query.get(name) }))
    .filter(({ text }) => text);
  return given.length > 0 && element(
    "ul",
    { class: "conditions", "aria-label": "Conditions" },
    given.map(({ name, label, text }) =>
      element("li", null, `${label}: `, value(text), " ",
        element("a", { href: changed(query, { [name]: null }), "aria-label": `Take away: ${label}` }, "✕"))),
  );
}

/** Days and spans, one click each. */
function timeChoices(query) {
  const isChosen = (from, until) => query.get("from") === rfc3339(from) && query.get("until") === rfc3339(until);
  const choice = (from, until, ...children) =>
    element(
      "a",
      {
        href: changed(query, { from: rfc3339(from), until: until && rfc3339(until) }),
        "aria-current": until && isChosen(from, until) && "true",
      },
      ...children,
    );
  return element(
    "nav",
    { class: "choices", "aria-label": "Time" },
    recentDays().map(({ from, until, name, title }) =>
      choice(from, until, title, element("small", null, name)),
    ),
    presets().map(({ name, from, until }) => choice(from, until, name)),
  );
}

// MARK: - Groups

async function collect(query, report, signal) {
  const found = [];
  let cursor = null;
  do {
    const page = await getJSON("v1/audit/entries", { ...asked(query), limit: groupedPage, cursor }, signal);
    found.push(...page.entries);
    cursor = page.next;
    report(found.length);
  } while (cursor && found.length < groupedLimit);
  return { found, isWhole: !cursor };
}

function groupsOf(found, member) {
  const groups = new Map();
  for (const { entry } of found) {
    const name = entry[member] ?? null;
    const group = groups.get(name) ?? { name, count: 0, first: Infinity, last: -Infinity, events: new Map() };
    group.count += 1;
    group.first = Math.min(group.first, entry.t);
    group.last = Math.max(group.last, entry.t);
    group.events.set(entry.ev, (group.events.get(entry.ev) ?? 0) + 1);
    groups.set(name, group);
  }
  return [...groups.values()].sort((one, other) => other.count - one.count);
}

function groupTable(groups, grouping, query) {
  return table(
    `Entries by ${grouping.name}`,
    [{ title: grouping.name[0].toUpperCase() + grouping.name.slice(1) }, { title: "Entries", number: true }, { title: "Events" }, { title: "First" }, { title: "Last" }],
    groups.map(({ name, count, first, last, events }) => [
      name === null
        ? element("span", { class: "hint" }, grouping.query === "caller" ? "the service itself" : "none")
        : element("a", { href: changed(query, { [grouping.query]: name, group: null }) }, value(name)),
      grouped(count),
      [...events].map(([event, times]) => element("div", null, value(event), ` ${grouped(times)}`)),
      formatted(first),
      formatted(last),
    ]),
    { class: "cards" },
  );
}

function groupPanel(query, grouping, signal) {
  const body = element("div", { class: "panel-body" });
  void fill(body, async () => {
    const progress = (count) => replace(body, element("p", { class: "waiting" }, `Read ${grouped(count)} entries …`));
    const { found, isWhole } = await collect(query, progress, signal);
    const groups = groupsOf(found, grouping.member);
    announce(`${groups.length} groups by ${grouping.name}`);
    if (groups.length === 0) return paragraph("Nobody: no entry meets these conditions.");
    return [
      !isWhole && paragraph(
        `These are the ${query.get("order") === "oldest" ? "oldest" : "newest"} ${grouped(found.length)} entries; `,
        "there are more. Choose a shorter time to count all.",
      ),
      groupTable(groups, grouping, query),
    ];
  }, signal);
  const heading = element("h2", { id: "groups" }, `By ${grouping.name}`);
  return element("section", { "aria-labelledby": "groups", class: "panel" }, heading, body);
}

// MARK: - Entries

function outcomeOf(entry) {
  if (entry.outcome) return badge(entry.outcome === "eligible" ? "good" : "warn", entry.outcome);
  if (entry.allow === false) return badge("warn", "denied, signed");
  if (entry.ev === "sign.intent" || entry.ev === "authorize.intent") return badge("good", "granted");
  if (entry.ev === "sign.failed") return badge("bad", "failed");
  return "";
}

/** Entries as rows, each with a link to itself. */
export function entryTable(found) {
  return table(
    "Entries",
    [{ title: "Entry" }, { title: "Time (UTC)" }, { title: "Event" }, { title: "Caller" }, { title: "Key" }, { title: "Offer" }, { title: "Outcome" }],
    found.map(({ index, entry }) => [
      element("a", { href: `#/entries/${Number(index)}`, "aria-label": `Entry ${Number(index)}` }, `#${Number(index)}`),
      formatted(entry.t),
      value(entry.ev),
      entry.caller ? value(entry.caller) : "",
      entry.kid ? value(entry.kid, "value mono") : "",
      [entry.offer && element("div", null, value(entry.offer)), entry.product && element("div", { class: "hint" }, value(entry.product))],
      outcomeOf(entry),
    ]),
    { class: "cards entries" },
  );
}

async function download(query, format, messages, signal) {
  replace(messages, element("p", { class: "waiting" }, "Fetching the file …"));
  try {
    const blob = await getBlob("v1/audit/entries", { ...asked(query), format, limit: groupedPage, cursor: query.get("cursor") }, signal);
    const address = URL.createObjectURL(blob);
    const link = element("a", { download: `entries.${format}` });
    link.href = address;
    link.click();
    URL.revokeObjectURL(address);
    replace(messages, paragraph(`entries.${format} was downloaded; the export is on record.`));
  } catch (error) {
    if (error.name !== "AbortError") replace(messages, troubleNotice(error));
  }
}

// The service looks at so many entries for one answer; while it has found nothing and has more, it is asked on.
async function firstPage(query, signal) {
  let cursor = query.get("cursor");
  for (;;) {
    const page = await getJSON("v1/audit/entries", { ...asked(query), limit: pageSize, cursor }, signal);
    if (page.entries.length > 0 || !page.next) return page;
    cursor = page.next;
    announce("Nothing yet; still looking");
  }
}

async function results(query, signal) {
  const page = await firstPage(query, signal);
  announce(page.entries.length ? `${page.entries.length} entries shown` : "No entries found");
  const messages = element("div", { "aria-live": "polite" });
  const button = (format, name) =>
    element("button", { type: "button", click: () => download(query, format, messages, signal) }, name);
  if (page.entries.length === 0) {
    return paragraph(
      "No entry meets these conditions. Take one away, choose a longer time, or ",
      element("a", { href: "#/entries" }, "begin anew"),
      ". Texts must be whole: part of a name finds nothing.",
    );
  }
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
      element("span", { class: "hint" }, `up to ${groupedPage} entries from here on`),
    ),
    messages,
  ];
}

export function entries(body, { route, signal, title }) {
  const { query } = route;
  const grouping = groupings.find((grouping) => grouping.query === query.get("group"));
  const key = query.get("key");
  if (key) replace(title, "Entries of key ", value(key, "value mono"));
  const found = element("div", { class: "panel-body" });
  void fill(found, () => results(query, signal), signal);
  const isSearch = [...query.keys()].length > 0;
  body.append(
    element(
      "section",
      { class: "panel" },
      element(
        "details",
        { open: !isSearch },
        element("summary", null, element("h2", null, "Search")),
        searchForm(query),
      ),
    ),
    timeChoices(query),
    conditionsInForce(query) || "",
    grouping ? groupPanel(query, grouping, signal) : "",
    element(
      "section",
      { "aria-labelledby": "found", class: "panel" },
      element("h2", { id: "found" }, query.get("order") === "oldest" ? "Oldest first" : "Newest first"),
      found,
    ),
  );
}
