// SPDX-License-Identifier: Apache-2.0
// Finds the records of a customer whose name the person knows. The name goes to the service in a body, and nowhere else.

import { announce, element, field, notice, paragraph, replace, table, value } from "./elements.js";
import { entryTable } from "./entries.js";
import { knownNames, suggestions } from "./names.js";
import { troubleNotice } from "./panels.js";
import { entriesLink } from "./query.js";
import { getJSON, post } from "./service.js";

const kinds = [
  { name: "customerId", label: "customerId" },
  { name: "appAccountToken", label: "appAccountToken" },
  { name: "anonymousId", label: "anonymousId" },
  { name: "applicationUsername", label: "applicationUsername" },
  { name: "originalTransactionId", label: "original transaction id" },
  { name: "appTransactionId", label: "app transaction id" },
];
const most = 50;

async function entriesOf(users, signal) {
  const pages = await Promise.all(users.map(({ user }) =>
    getJSON("v1/audit/entries", { user, limit: most, exclude: "audit.read,audit.fetch,customer.lookup" }, signal)));
  const found = new Map(pages.flatMap(({ entries }) => entries).map((entry) => [entry.index, entry]));
  return {
    entries: [...found.values()].sort((one, other) => other.index - one.index),
    isWhole: pages.every(({ next }) => !next),
  };
}

function pseudonyms({ users }) {
  return table(
    "Pseudonyms",
    [{ title: "Name" }, { title: "Given by" }, { title: "Secret" }, { title: "Pseudonym" }],
    users.map(({ name, isClaimed, epoch, user }) => [
      value(name),
      isClaimed ? "an app, unproven" : "a backend, or proven",
      value(epoch),
      element("a", { href: entriesLink({ user }) }, value(user, "value mono")),
    ]),
    { class: "cards" },
  );
}

async function outcome(answer, signal) {
  const { entries, isWhole } = await entriesOf(answer.users, signal);
  announce(entries.length ? `${entries.length} entries found` : "No entry is about this customer");
  return [
    entries.length > 0
      ? [
          element("h2", null, "What is on record"),
          !isWhole && paragraph(`The newest ${most} entries of each pseudonym; choose one below to see all.`),
          entryTable(entries),
        ]
      : notice("warn", "No entry is about this customer", paragraph(
          "The log has no request for an offer in this app under this name. Check the app and the name, or try another name of the customer.",
        )),
    element("h2", null, "Pseudonyms of this customer"),
    pseudonyms(answer),
  ];
}

export function customers(body, { session, signal }) {
  const messages = element("div", { "aria-live": "polite", id: "customer-outcome" });
  const app = element("input", {
    id: "customer-app", required: true, autocomplete: "off", spellcheck: "false", list: "names-bundle", "aria-describedby": "customer-app-hint",
  });
  void knownNames(session).then((names) => {
    const apps = [...(names.bundle ?? []), ...(names.package ?? [])];
    if (apps.length > 0 && !app.value) app.value = apps[0];
  });
  const kind = element("select", { id: "customer-kind" }, kinds.map(({ name, label }) => element("option", { value: name }, label)));
  const name = element("input", { id: "customer-name", required: true, autocomplete: "off", spellcheck: "false", "aria-describedby": "customer-name-hint" });
  const button = element("button", { type: "submit", class: "main" }, "Find this customer");
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    replace(messages, element("p", { class: "waiting" }, "Looking …"));
    try {
      const names = await knownNames(session);
      const isPackage = (names.package ?? []).includes(app.value.trim()) && !(names.bundle ?? []).includes(app.value.trim());
      const asked = { [isPackage ? "packageName" : "bundleId"]: app.value.trim(), [kind.value]: name.value.trim() };
      replace(messages, await outcome(await post("v1/audit/customers", asked), signal));
    } catch (error) {
      if (error.status === 401) document.dispatchEvent(new CustomEvent("signed-out", { detail: error }));
      else if (error.name !== "AbortError") replace(messages, troubleNotice(error));
    }
    button.disabled = false;
  };
  body.append(
    paragraph("Records hold pseudonyms. With a customer's name you get the pseudonyms and what is recorded under them. "
      + "That you asked is on record, with the pseudonyms and never with the name."),
    element(
      "form",
      { submit, class: "customer", "aria-label": "Find a customer" },
      suggestions(session, ["bundle"]),
      element(
        "div",
        { class: "grid" },
        field("App", app, "The bundle id, or the package name of an app at Google Play alone."),
        field("Kind of name", kind),
        field("Name", name, "As your backend or the app sends it."),
      ),
      element("div", { class: "buttons" }, button),
    ),
    messages,
  );
}
