// SPDX-License-Identifier: Apache-2.0
// What happened lately: uses of keys, decisions, refusals, and whether log and service are well.

import { keyButton } from "./actions.js";
import { grouped, keyName, share, usageChart } from "./chart.js";
import { badge, element, instant, notice, paragraph, table, value } from "./elements.js";
import { logFacts } from "./log.js";
import { panel } from "./panels.js";
import { entriesLink } from "./query.js";
import { findingCounts, findings } from "./reconciliation.js";
import { retention } from "./retention.js";
import { getJSON } from "./service.js";
import { ago, day, hour, rfc3339, startOfDay } from "./times.js";
import { findingName } from "./words.js";

const ranges = [
  { name: "24 hours", query: "1", days: 1, step: hour },
  { name: "7 days", query: "7", days: 7, step: day },
  { name: "14 days", query: "14", days: 14, step: day },
  { name: "30 days", query: "30", days: 30, step: day },
];

function spanOf(range) {
  if (range.step === hour) {
    const until = Math.floor(Date.now() / hour) * hour + hour;
    return { from: until - day, until };
  }
  const until = startOfDay(Date.now()) + day;
  return { from: until - range.days * day, until };
}

const rangeLinks = (chosen) =>
  element(
    "nav",
    { class: "choices", "aria-label": "Time shown" },
    ranges.map((range) =>
      element("a", { href: `#/?days=${range.query}`, "aria-current": range === chosen && "true" }, range.name),
    ),
  );

// What is counted from an index that is being built may be less than there is.
const incomplete = (summary) =>
  summary.isComplete === false && notice("warn", "The index is still being built", paragraph("There may be more than is shown."));

function usage(summary, range, { from, until }) {
  if (summary.keys.every(({ counts }) => counts.length === 0)) {
    return [
      incomplete(summary),
      paragraph("No key was used in this time. Choose a longer one, or look at the entries."),
    ];
  }
  const link = (key, { at }) =>
    entriesLink({ key, from: rfc3339(at), until: rfc3339(at + range.step), group: "caller" });
  return [incomplete(summary), usageChart({ keys: summary.keys, from, until, step: range.step, link })];
}

const lastUse = (at) => (at ? [instant(at), " ", element("span", { class: "hint" }, ago(at))] : "never");

async function keys(session, summary, { from, until }, signal) {
  // Without the summary, which its own panel misses, there are still keys to be shown, and to be disabled.
  const [{ keys }, counted] = await Promise.all([getJSON("v1/keys", null, signal), summary.catch(() => null)]);
  const uses = new Map(counted?.keys.map(({ key, counts }) => [key, counts.reduce((sum, { count }) => sum + count, 0)]));
  if (keys.length === 0) return paragraph("The key ring is empty.");
  const link = (id) => entriesLink({ key: id, from: rfc3339(from), until: rfc3339(until), group: "caller" });
  const acts = session.role === "admin";
  const state = { active: "good", retiring: "warn", disabled: "bad" };
  return table(
    "Keys, their state and last use",
    [
      { title: "Key" }, { title: "State" }, { title: "Apps" }, { title: "Last use" }, { title: "Uses shown", number: true },
      ...(acts ? [{ title: "Action" }] : []),
    ],
    keys.map((key) => [
      element("a", { href: link(key.id), class: "key-link" }, keyName(key.id)),
      [badge(state[key.state] ?? "neutral", key.state), key.disabledBy && ` by ${key.disabledBy}`],
      (key.bundleIds ?? []).map((id) => element("div", null, value(id))),
      lastUse(key.lastUsedAt),
      counted ? grouped(uses.get(key.id) ?? 0) : "–",
      ...(acts ? [keyButton(key)] : []),
    ]),
    { class: "cards" },
  );
}

function decisions(summary, { from, until }) {
  if (summary.decisions.length === 0) return paragraph("Nothing was decided in this time.");
  const span = { from: rfc3339(from), until: rfc3339(until) };
  return table(
    "Decisions by rule",
    [{ title: "Rule" }, { title: "Granted", number: true }, { title: "Refused", number: true }, { title: "Undecided", number: true }, { title: "Share" }],
    summary.decisions.map(({ rule, granted, refused, undecided }) => [
      element("a", { href: entriesLink({ rule, ...span }) }, value(rule)),
      grouped(granted),
      grouped(refused),
      grouped(undecided),
      share([{ kind: "granted", count: granted }, { kind: "refused", count: refused }, { kind: "undecided", count: undecided }]),
    ]),
    { class: "cards" },
  );
}

function refusals(summary, { from, until }) {
  if (summary.refusals.length === 0) return paragraph("Nothing was refused in this time.");
  const most = [...summary.refusals].sort((one, other) => other.count - one.count).slice(0, 10);
  return table(
    "Top refusals",
    [{ title: "Rule" }, { title: "Reason" }, { title: "Times", number: true }],
    most.map(({ rule, code, count }) => [
      element("a", { href: entriesLink({ rule, from: rfc3339(from), until: rfc3339(until), group: "event" }) }, value(rule)),
      [
        element("a", { href: entriesLink({ rule, reason: code, from: rfc3339(from), until: rfc3339(until) }) }, value(findingName(code))),
        element("small", { class: "code" }, value(code)),
      ],
      grouped(count),
    ]),
    { class: "cards" },
  );
}

export function overview(body, { route, session, signal }) {
  const range = ranges.find(({ query }) => query === route.query.get("days")) ?? ranges[2];
  const span = spanOf(range);
  const { from, until } = span;
  const summary = getJSON(
    "v1/audit/summary",
    { from: rfc3339(from), until: rfc3339(until), step: range.step === hour ? "hour" : "day" },
    signal,
  );
  const found = findings(from, until, signal);
  // Each panel reports a failure; the promises themselves must not count as unhandled before they ask.
  summary.catch(() => {});
  found.catch(() => {});
  body.append(
    rangeLinks(range),
    panel("Use of keys", "usage", async () => usage(await summary, range, span), signal),
    panel("Keys", "keys", () => keys(session, summary, span, signal), signal),
    element(
      "div",
      { class: "columns" },
      panel("Decisions by rule", "decisions", async () => decisions(await summary, span), signal),
      panel("Top refusals", "refusals", async () => refusals(await summary, span), signal),
      panel("Log", "log-state", () => logFacts(signal), signal),
      panel("Reconciliation", "findings", async () => findingCounts(await found), signal),
      panel("Retention", "retention", async () => retention(await found), signal),
    ),
  );
}
