// SPDX-License-Identifier: Apache-2.0
// A search, as the address of the page has it, and as the service is asked it.

/** What entries can be searched for; `names` is the list of suggestions, as /v1/audit/names has it. */
export const conditions = [
  { name: "event", label: "Event", names: "event" },
  { name: "key", label: "Key", names: "key" },
  { name: "caller", label: "Caller", names: "caller" },
  { name: "offer", label: "Offer (the store's id)", names: "offer" },
  { name: "product", label: "Product", names: "product" },
  { name: "rule", label: "Rule (the catalog's id)", names: "rule" },
  { name: "outcome", label: "Outcome", choices: ["notEligible", "undecided", "eligible"] },
  { name: "reason", label: "Reason (a code)", names: "reason" },
  { name: "bundle", label: "Bundle id", names: "bundle" },
  { name: "package", label: "Package name", names: "package" },
  { name: "user", label: "User (pseudonym)" },
  { name: "nonce", label: "Nonce" },
  { name: "digest", label: "Digest" },
  { name: "grant", label: "Grant" },
  { name: "request", label: "Request" },
];

/** What reading the log leaves in it; left out unless it is asked for. */
const reads = ["audit.read", "audit.fetch"];

/** The address of a search. */
export function entriesLink(query) {
  const given = Object.entries(query).filter(([, text]) => text);
  return given.length ? `#/entries?${new URLSearchParams(given)}` : "#/entries";
}

/** The address of the same search with some of it changed, from its first page on. */
export const changed = (query, changes) => entriesLink({ ...Object.fromEntries(query), cursor: null, ...changes });

/** Whether entries about reading the log are left out. */
export const hidesReads = (query) => query.get("reads") !== "shown" && !query.get("event");

/** What a page's address asks the service for. */
export function asked(query) {
  const names = [...conditions.map(({ name }) => name), "from", "until"];
  const given = Object.fromEntries(names.map((name) => [name, query.get(name)]).filter(([, text]) => text));
  if (hidesReads(query)) given.exclude = reads.join(",");
  return { ...given, order: query.get("order") === "oldest" ? "oldest" : "newest" };
}
