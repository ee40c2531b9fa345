// SPDX-License-Identifier: Apache-2.0
// The form of a search, what holds of it, and the times that are one click away.

import { element, field, value } from "./elements.js";
import { suggestions } from "./names.js";
import { changed, conditions, entriesLink, hidesReads } from "./query.js";
import { presets, recentDays, rfc3339, typedTime } from "./times.js";
import { outcomeName } from "./words.js";

export const groupings = [
  { query: "caller", name: "caller", member: "caller" },
  { query: "key", name: "key", member: "kid" },
  { query: "offer", name: "offer", member: "offer" },
  { query: "rule", name: "rule", member: "rule" },
  { query: "event", name: "event", member: "ev" },
];

function control({ name, choices, names }, query) {
  const id = `condition-${name}`;
  if (!choices) {
    return element("input", {
      id, name, value: query.get(name) ?? "", autocomplete: "off", spellcheck: "false", list: names && `names-${names}`,
    });
  }
  const options = ["", ...choices].map((choice) =>
    element("option", { value: choice, selected: choice === (query.get(name) ?? "") }, choice ? outcomeName(choice) : "any"),
  );
  return element("select", { id, name }, options);
}

const timeInput = (name, query) =>
  element("input", {
    id: `condition-${name}`, name, value: query.get(name) ?? "", autocomplete: "off", spellcheck: "false",
    "aria-describedby": `condition-${name}-hint`,
  });

const choice = (id, name, options, chosen) =>
  element(
    "select",
    { id, name },
    options.map(([option, label]) => element("option", { value: option, selected: option === chosen }, label)),
  );

function submitted(event, query) {
  event.preventDefault();
  const given = Object.fromEntries([...new FormData(event.target)].map(([name, text]) => [name, text.trim()]));
  for (const name of ["from", "until"]) given[name] = typedTime(given[name]);
  const kept = { reads: query.get("reads"), order: given.order === "oldest" ? "oldest" : null };
  const address = entriesLink({ ...given, ...kept });
  if (address === location.hash) document.dispatchEvent(new CustomEvent("reload-view"));
  else location.hash = address;
}

/** The conditions, each with its field. */
export function searchForm(query, session) {
  return element(
    "form",
    { class: "search", submit: (event) => submitted(event, query), role: "search", "aria-label": "Search entries" },
    suggestions(session, conditions.map(({ names }) => names).filter(Boolean)),
    element("div", { class: "grid" }, conditions.map((condition) => field(
      condition.label,
      control(condition, query),
      condition.name === "user" && ["Only a name known? ", element("a", { href: "#/customers" }, "Find a customer"), "."],
    ))),
    element(
      "div",
      { class: "grid" },
      field("From (UTC)", timeInput("from", query), "2026-11-26, 2026-11-26 14:30, or -24h"),
      field("Until (UTC), not included", timeInput("until", query), "The same; empty is now."),
      field("Order", choice("condition-order", "order", [["newest", "newest first"], ["oldest", "oldest first"]], query.get("order"))),
      field("Group by", choice(
        "condition-group", "group", [["", "nothing"], ...groupings.map(({ query, name }) => [query, name])], query.get("group"),
      )),
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
export function conditionsInForce(query) {
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

/** Whether entries about reading the log are shown, and the way to the other. */
export function readsSwitch(query) {
  if (query.get("event")) return null;
  return hidesReads(query)
    ? ["Reads of the log are hidden. ", element("a", { href: changed(query, { reads: "shown" }) }, "Show them")]
    : ["Reads of the log are shown. ", element("a", { href: changed(query, { reads: null }) }, "Hide them")];
}

/** Days and spans, one click each. */
export function timeChoices(query) {
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
    presets().map(({ name, from, until, relative }) => relative
      ? element(
          "a",
          { href: changed(query, { from: relative, until: null }), "aria-current": query.get("from") === relative && !query.get("until") && "true" },
          name,
        )
      : choice(from, until, name)),
  );
}
