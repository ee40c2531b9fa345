// SPDX-License-Identifier: Apache-2.0
// What was used in the stores, held against what was signed here.

import { grouped } from "./chart.js";
import { badge, element, facts, instant, notice, paragraph, table, value } from "./elements.js";
import { panel } from "./panels.js";
import { getJSON } from "./service.js";
import { day, rfc3339, startOfDay } from "./times.js";

export const findings = (from, until, signal) =>
  getJSON("v1/audit/reconciliation", { from: rfc3339(from), until: rfc3339(until) }, signal);

const titles = {
  store: "Store", bundleId: "App", packageName: "App at Google Play", productId: "Product", basePlanId: "Base plan", offerId: "Offer",
  state: "State", redeemedAt: "Redeemed at (UTC)", subscription: "Subscription", index: "Entry", grantId: "Grant",
  grantIndex: "Entry of the grant", grantedTo: "Granted to", grantedAt: "Granted at (UTC)", rule: "Rule",
  redeemed: "Redeemed", neverRedeemed: "Never redeemed", notTold: "Not known", lastToldAt: "Last notification (UTC)",
};
const stores = { "app-store": "App Store", "google-play": "Google Play" };
const states = { pending: "pending", redeemed: "redeemed", converted: "continued at full price", notConverted: "ended after the offer", undone: "undone" };

/** The apps about which no store has reported; `isTotal` if nothing at all is known. */
function silence(found) {
  const apps = found.apps ?? [];
  const silent = apps.filter(({ lastToldAt }) => !lastToldAt);
  const hasUses = found.redeemed > 0 || Object.values(found.counts ?? {}).some((count) => count > 0);
  return { silent, isTotal: !hasUses && silent.length === apps.length };
}

/** How many there are in all; a list may be the first of more. Without notifications the number is unknown. */
function counted(found, name) {
  const count = found.counts?.[name] ?? found[name].length;
  if (count > 0) return badge("bad", grouped(count));
  const { silent, isTotal } = silence(found);
  if (isTotal) return badge("neutral", "not known: no notifications");
  if (silent.length === 0) return badge("good", "none");
  return [badge("good", "none"), element("span", { class: "hint" }, ` for apps with notifications; not known for ${silent.length} more`)];
}

const notReported = (found) => (found.apps ?? []).reduce((sum, app) => sum + (app.notTold ?? 0), 0);

function neverRedeemedCount(found) {
  const unknown = notReported(found);
  if (unknown === 0) return grouped(found.neverRedeemed.count);
  const hint = element("span", { class: "hint" }, ` and ${grouped(unknown)} not known`);
  return found.neverRedeemed.count === 0 ? badge("neutral", `not known: ${grouped(unknown)}`) : [grouped(found.neverRedeemed.count), hint];
}

/** The findings as numbers, for the overview. */
export function findingCounts(found) {
  return facts([
    ["Redeemed without a record", counted(found, "redeemedWithoutRecord")],
    ["Redeemed by another account", counted(found, "redeemedByAnotherAccount")],
    ["Signed, never redeemed", neverRedeemedCount(found)],
    ["Redeemed", silence(found).isTotal ? badge("neutral", "not known") : grouped(found.redeemed)],
    ["Redeemed before the catalog had the offer", grouped(found.redeemedEarlier)],
    ["More", element("a", { href: "#/reconciliation" }, "The findings in full")],
  ]);
}

function cell(name, content) {
  if (name === "lastToldAt" && !content) return badge("neutral", "none");
  if (content === undefined || content === null) return "–";
  if (/^(index|entry|.*Index)$/.test(name) && Number.isInteger(content)) {
    return element("a", { href: `#/entries/${content}` }, `#${content}`);
  }
  if (/^(t|ts|at|.*At)$/.test(name) && !Number.isNaN(new Date(content).getTime())) return instant(content);
  if (name === "store") return value(stores[content] ?? content);
  if (name === "state") return value(states[content] ?? content);
  return value(typeof content === "object" ? JSON.stringify(content) : String(content));
}

/** Rows of whatever members the findings have; an index leads to its entry. */
function list(caption, items, always = []) {
  if (items.length === 0) return null;
  const isKnown = (name) => always.includes(name) || items.some((item) => item[name] !== null && item[name] !== undefined);
  const all = new Set(items.flatMap((item) => Object.keys(item)).filter(isKnown));
  const names = [...all].sort((one, other) => (other === "index") - (one === "index"));
  const columns = names.map((name) => ({ title: titles[name] ?? name, number: items.every((item) => typeof (item[name] ?? 0) === "number") }));
  return table(caption, columns, items.map((item) => names.map((name) => cell(name, item[name]))), { class: "cards" });
}

/** What to do if no store reports. */
function silenceNotice(found) {
  const { silent, isTotal } = silence(found);
  if (silent.length === 0 && !isTotal) return null;
  const names = silent.map((app) => value(app.bundleId ?? app.packageName));
  return notice(
    "warn",
    isTotal ? "No store has reported anything: uses are not known" : "No store has reported anything about some apps",
    names.length > 0 && paragraph("Without notifications: ", names.map((name, place) => [place > 0 && ", ", name]), "."),
    paragraph("A use is seen only once the store reports it. Set up notifications of the App Store and of Google Play, then "
      + "run: offer-signer notifications catch-up"),
  );
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
      silenceNotice(await found),
      paragraph("A customer used an offer that this service did not sign for. With a promotional offer that means a signature "
        + "made elsewhere: if nothing else explains it, treat the key as stolen."),
      paragraph("In all: ", counted(await found, "redeemedWithoutRecord")),
      list("Redeemed without a record", (await found).redeemedWithoutRecord),
    ], signal),
    panel("Redeemed by another account", "other-account", async () => [
      paragraph("Signed for one customer, used by another."),
      paragraph("In all: ", counted(await found, "redeemedByAnotherAccount")),
      list("Redeemed by another account", (await found).redeemedByAnotherAccount),
    ], signal),
    panel("By app", "apps", async () => [
      paragraph("Grants that are at least 72 hours old. “Not known” are those since which the store has reported nothing about the app."),
      list("By app", (await found).apps ?? [], ["lastToldAt"]) ?? paragraph("No grant is old enough yet."),
    ], signal),
    panel("Signed, never redeemed", "never-redeemed", async () => {
      const { neverRedeemed } = await found;
      return [
        paragraph(neverRedeemedCount(await found), ". A few are normal: people change their minds. Many may mean that someone collects signatures."),
        list("Signed, never redeemed; the first hundred", neverRedeemed.entries),
      ];
    }, signal),
  );
}
