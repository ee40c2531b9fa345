// SPDX-License-Identifier: Apache-2.0
// What was used in the stores, held against what was signed here.

import { grouped } from "./chart.js";
import { badge, element, facts, paragraph, table, value } from "./elements.js";
import { panel } from "./panels.js";
import { getJSON } from "./service.js";
import { day, formatted, rfc3339, startOfDay } from "./times.js";

const findings = (from, until, signal) =>
  getJSON("v1/audit/reconciliation", { from: rfc3339(from), until: rfc3339(until) }, signal);

/** How many there are in all; a list may be the first of more. */
function counted(found, name) {
  const count = found.counts?.[name] ?? found[name].length;
  return count === 0 ? badge("good", "none") : badge("bad", grouped(count));
}

/** The findings as numbers, for the overview. */
export async function findingCounts({ from, until }, signal) {
  const found = await findings(from, until, signal);
  return facts([
    ["Redeemed without a record", counted(found, "redeemedWithoutRecord")],
    ["Redeemed by another account", counted(found, "redeemedByAnotherAccount")],
    ["Signed, never redeemed", grouped(found.neverRedeemed.count)],
    ["Redeemed", grouped(found.redeemed)],
    ["More", element("a", { href: "#/reconciliation" }, "The findings in full")],
  ]);
}

/** Rows of whatever members the findings have; an index leads to its entry. */
function list(caption, items) {
  if (items.length === 0) return paragraph("None.");
  const isKnown = (name) => items.some((item) => item[name] !== null && item[name] !== undefined);
  const all = new Set(items.flatMap((item) => Object.keys(item)).filter(isKnown));
  const names = [...all].sort((one, other) => (other === "index") - (one === "index"));
  const cell = (name, content) => {
    if (content === undefined || content === null) return "–";
    if (/^(index|entry|.*Index)$/.test(name) && Number.isInteger(content)) {
      return element("a", { href: `#/entries/${content}` }, `#${content}`);
    }
    if (/^(t|ts|at|.*At)$/.test(name) && !Number.isNaN(new Date(content).getTime())) return formatted(content);
    return value(typeof content === "object" ? JSON.stringify(content) : String(content));
  };
  return table(caption, names.map((title) => ({ title })), items.map((item) => names.map((name) => cell(name, item[name]))), { class: "cards" });
}

export function reconciliation(body, { route, signal }) {
  const days = ["7", "30", "90"].includes(route.query.get("days")) ? Number(route.query.get("days")) : 30;
  const until = startOfDay(Date.now()) + day;
  const found = findings(until - days * day, until, signal);
  found.catch(() => {});
  body.append(
    element(
      "nav",
      { class: "choices", "aria-label": "Time shown" },
      [7, 30, 90].map((count) =>
        element("a", { href: `#/reconciliation?days=${count}`, "aria-current": count === days && "true" }, `${count} days`)),
    ),
    panel("Redeemed without a record", "without-record", async () => [
      paragraph("Somebody used an offer that this service did not sign for. With a promotional offer that means a signature "
        + "made elsewhere: if nothing else explains it, treat the key as stolen."),
      paragraph("In all: ", counted(await found, "redeemedWithoutRecord")),
      list("Redeemed without a record", (await found).redeemedWithoutRecord),
    ], signal),
    panel("Redeemed by another account", "other-account", async () => [
      paragraph("Signed for one customer, used by another."),
      paragraph("In all: ", counted(await found, "redeemedByAnotherAccount")),
      list("Redeemed by another account", (await found).redeemedByAnotherAccount),
    ], signal),
    panel("By app", "apps", async () => list("By app", (await found).apps ?? []), signal),
    panel("Signed, never redeemed", "never-redeemed", async () => {
      const { neverRedeemed } = await found;
      return [
        paragraph(`${grouped(neverRedeemed.count)}. A few are ordinary: people change their minds. Many may be somebody collecting signatures.`),
        list("Signed, never redeemed; the first hundred", neverRedeemed.entries),
      ];
    }, signal),
  );
}
