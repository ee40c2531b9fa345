// SPDX-License-Identifier: Apache-2.0
// Finds the entry of something that an app received: paste the answer, or type its members.

import { announce, element, field, notice, paragraph, replace } from "./elements.js";
import { entryTable } from "./entries.js";
import { troubleNotice } from "./panels.js";
import { post } from "./service.js";

const members = [
  { name: "bundleId", label: "Bundle id" },
  { name: "productId", label: "Product id" },
  { name: "offerId", label: "Offer identifier" },
  { name: "keyIdentifier", label: "Key identifier" },
  { name: "nonce", label: "Nonce" },
  { name: "timestamp", label: "Timestamp (milliseconds)" },
  { name: "appAccountToken", label: "appAccountToken, if one was attached" },
  { name: "applicationUsername", label: "applicationUsername, if one was attached" },
  { name: "signature", label: "Signature (base64)" },
];

const input = (name) => document.getElementById(`found-${name}`);

/** An answer of the service, from its text; null if that is none. */
function answerIn(text) {
  try {
    const answer = JSON.parse(text);
    return typeof answer === "object" ? answer : null;
  } catch {
    return null;
  }
}

/** Puts what an answer of the service has into the fields; true if it was one. */
function spread(text) {
  const answer = answerIn(text);
  if (!answer) return false;
  const given = { ...answer, offerId: answer.offerId ?? answer.identifier };
  for (const { name } of members) {
    if (["string", "number"].includes(typeof given[name])) input(name).value = String(given[name]);
  }
  return true;
}

function request(pasted) {
  const answer = answerIn(pasted);
  const jws = /^[\w-]+\.[\w-]+\.[\w-]+$/.exec(answer?.jws ?? pasted)?.[0];
  if (jws && !answer?.signature) return { jws };
  const typed = members.map(({ name }) => [name, input(name).value.trim()]).filter(([, text]) => text);
  const body = Object.fromEntries(typed);
  if (/^[0-9]{1,15}$/.test(body.timestamp ?? "")) body.timestamp = Number(body.timestamp);
  return body;
}

const verdicts = new Map([
  [true, ["good", "This service signed it", "The signature is over the digest on record, by the key on record."]],
  [false, ["bad", "There is an entry, but the signature does not verify",
    "What was pasted is not what was signed: a member was changed, or the signature is another one's."]],
  [null, ["warn", "There is an entry; the signature was not checked",
    "The key is no longer in the key ring. The digest on record is that of what was pasted."]],
]);

function outcome({ index, entry, signatureVerifies }) {
  announce(`Found: entry ${index}`);
  const [kind, title, explanation] = verdicts.get(signatureVerifies);
  return [notice(kind, title, paragraph(explanation)), entryTable([{ index, entry }])];
}

export function lookup(body) {
  const messages = element("div", { "aria-live": "polite", id: "lookup-outcome" });
  const pasted = element("textarea", {
    id: "found-answer", rows: "6", spellcheck: "false", autocomplete: "off", "aria-describedby": "found-answer-hint",
  });
  pasted.addEventListener("input", () => {
    if (spread(pasted.value)) announce("The fields are filled from what was pasted");
  });
  const button = element("button", { type: "submit", class: "main" }, "Find its entry");
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    replace(messages, element("p", { class: "waiting" }, "Looking …"));
    try {
      replace(messages, outcome(await post("v1/audit/lookups", request(pasted.value.trim()))));
    } catch (error) {
      if (error.status === 401) document.dispatchEvent(new CustomEvent("signed-out", { detail: error }));
      else if (error.status === 404) replace(messages, unknown(error));
      else replace(messages, troubleNotice(error));
    }
    button.disabled = false;
  };
  body.append(
    paragraph("Paste what the app received (the service's answer, or a JWS), add what the app attached, and find who asked for it."),
    element(
      "form",
      { submit, class: "lookup", "aria-label": "Find an answer" },
      field("Answer or JWS", pasted, "A JSON answer fills the fields below; a JWS is looked up as it is."),
      element("div", { class: "grid" }, members.map(({ name, label }) =>
        field(label, element("input", { id: `found-${name}`, name, autocomplete: "off", spellcheck: "false" })))),
      element("div", { class: "buttons" }, button),
    ),
    messages,
  );
}

function unknown({ detail }) {
  announce("No entry found");
  return notice(
    "warn",
    "There is no such entry",
    detail && paragraph(detail),
    paragraph("Check that bundle and product are right: the answer does not hold them. If they are, and the signature "
      + "verifies with one of your keys, it was made elsewhere: treat the key as stolen (runbook, “A key was stolen”)."),
  );
}
