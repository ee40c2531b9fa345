// SPDX-License-Identifier: Apache-2.0
// Finds the entry of something that an app received: paste the answer as it is.

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
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

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

function typed() {
  const given = members.map(({ name }) => [name, input(name).value.trim()]).filter(([, text]) => text);
  const body = Object.fromEntries(given);
  if (/^[0-9]{1,15}$/.test(body.timestamp ?? "")) body.timestamp = Number(body.timestamp);
  return body;
}

/** The bodies to ask with, one after the other until one finds something. */
function requests(pasted) {
  const answer = answerIn(pasted);
  if (answer) return [{ ...answer, ...typed() }];
  const jws = /^[\w-]+\.[\w-]+\.[\w-]+$/.exec(pasted)?.[0];
  if (jws) return [{ jws }];
  const id = uuid.exec(pasted)?.[0];
  return id ? [{ grantId: id }, { nonce: id }] : [typed()];
}

async function lookUp(pasted) {
  const bodies = requests(pasted);
  for (const body of bodies.slice(0, -1)) {
    try {
      return await post("v1/audit/lookups", body);
    } catch (error) {
      if (error.status !== 404) throw error;
    }
  }
  return post("v1/audit/lookups", bodies.at(-1));
}

const verdicts = new Map([
  [true, ["good", "This service signed it", "The signature is over the digest on record, by the key on record."]],
  [false, ["bad", "There is an entry, but the signature does not verify",
    "What was pasted is not what was signed: a member was changed, or the signature is another one's."]],
  [null, ["warn", "There is an entry; no signature was checked",
    "Nothing was pasted that has a signature, or its key is no longer in the key ring. What was pasted fits the record."]],
]);

function outcome({ index, entry, signatureVerifies, further = [] }) {
  const found = [{ index, entry, signatureVerifies }, ...further];
  announce(`Found: ${found.length === 1 ? `entry ${index}` : `${found.length} entries`}`);
  // The worst that is to be said of any of them.
  const worst = [false, null, true].find((verdict) => found.some(({ signatureVerifies }) => signatureVerifies === verdict));
  const [kind, title, explanation] = verdicts.get(worst);
  return [
    notice(kind, title, paragraph(found.length > 1 && worst === true ? `Of all ${found.length} signatures: ${explanation}` : explanation)),
    entryTable(found),
  ];
}

export function lookup(body) {
  const messages = element("div", { "aria-live": "polite", id: "lookup-outcome" });
  const pasted = element("textarea", {
    id: "found-answer", rows: "6", spellcheck: "false", autocomplete: "off", "aria-describedby": "found-answer-hint",
  });
  const button = element("button", { type: "submit", class: "main" }, "Find its entry");
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    replace(messages, element("p", { class: "waiting" }, "Looking …"));
    try {
      replace(messages, outcome(await lookUp(pasted.value.trim())));
    } catch (error) {
      if (error.status === 401) document.dispatchEvent(new CustomEvent("signed-out", { detail: error }));
      else if (error.status === 404) replace(messages, unknown(error));
      else replace(messages, troubleNotice(error));
    }
    button.disabled = false;
  };
  body.append(
    paragraph("Paste what the app received: the service's answer as it is, a JWS, a grant id or a nonce. Nothing else is needed."),
    element(
      "form",
      { submit, class: "lookup", "aria-label": "Find an answer" },
      field("Answer, JWS, grant id or nonce", pasted, "An answer of a batch works too: all of its grants are looked up."),
      element("div", { class: "buttons" }, button),
      messages,
      element(
        "details",
        { open: true },
        element("summary", null, "Members one by one, if there is no answer to paste"),
        paragraph("What you fill in here counts instead of what the answer has."),
        element("div", { class: "grid" }, members.map(({ name, label }) =>
          field(label, element("input", { id: `found-${name}`, name, autocomplete: "off", spellcheck: "false" })))),
      ),
    ),
  );
}

function unknown({ detail }) {
  announce("No entry found");
  return notice(
    "warn",
    "There is no such entry",
    detail && paragraph(detail),
    paragraph("If the app attached another appAccountToken or applicationUsername than the answer has, fill it in below. "
      + "If a signature verifies with one of your keys and has no entry, it was made elsewhere: treat the key as stolen "
      + "(runbook, “A key was stolen”)."),
  );
}
