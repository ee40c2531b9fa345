// SPDX-License-Identifier: Apache-2.0
// Who, or what, is behind the entries of a search: counted by one of their members.

import { grouped } from "./chart.js";
import { announce, element, instant, paragraph, replace, table, value } from "./elements.js";
import { fill } from "./panels.js";
import { asked, changed } from "./query.js";
import { getJSON } from "./service.js";
import { eventName } from "./words.js";

const [groupedPage, groupedLimit] = [500, 5000];

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
      [...events].map(([event, times]) => element("div", null, value(eventName(event)), ` ${grouped(times)}`)),
      instant(first),
      instant(last),
    ]),
    { class: "cards" },
  );
}

/** The groups of all entries of a search, up to a number that a browser reads in a moment. */
export function groupPanel(query, grouping, signal) {
  const body = element("div", { class: "panel-body" });
  void fill(body, async () => {
    const progress = (count) => replace(body, element("p", { class: "waiting" }, `Read ${grouped(count)} entries …`));
    const { found, isWhole } = await collect(query, progress, signal);
    const groups = groupsOf(found, grouping.member);
    announce(`${groups.length} groups by ${grouping.name}`);
    if (groups.length === 0) return paragraph("No entry meets these conditions.");
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
