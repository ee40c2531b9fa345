// SPDX-License-Identifier: Apache-2.0
// Finds out why a signature was refused, and its entry: paste what the app received, and what StoreKit said.

import { announce, element, field, notice, paragraph, replace, value } from "./elements.js";
import { entryTable } from "./entries.js";
import { troubleNotice } from "./panels.js";
import { post } from "./service.js";
import { own } from "./words.js";

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

/** A StoreKit error as people copy it: an object, “SKErrorDomain 12”, a code, or a name of StoreKit 2. */
function storeKitError(text) {
  const object = answerIn(text);
  if (object) return object;
  const [, domain, code] = /^([\w.-]+)[\s:,]+(?:code[\s:=]*)?(-?\d{1,15})$/i.exec(text) ?? [];
  if (code) return { domain, code: Number(code) };
  if (/^-?\d{1,15}$/.test(text)) return { code: Number(text) };
  return text.split(".").at(-1);
}

/** What the service is asked about a signature; null if nothing that was pasted has one. */
function report(pasted) {
  const answer = answerIn(pasted);
  if (answer && (Array.isArray(answer) || "results" in answer)) return null;
  const jws = /^[\w-]+\.[\w-]+\.[\w-]+$/.exec(pasted)?.[0];
  const { signature, ...given } = typed();
  const body = answer ? { ...answer } : { ...given, ...(jws ? { jws } : {}) };
  if (answer && Object.keys(given).length > 0) body.attached = given;
  if (signature) body.signature = signature;
  if (!body.signature && !body.jws) return null;
  const error = input("error").value.trim();
  if (error) body.error = storeKitError(error);
  const signedTransaction = input("transaction").value.trim();
  if (signedTransaction) body.signedTransaction = signedTransaction;
  return body;
}

const diagnoses = {
  "payload-differs": ["bad", "The signature is for something else than the App Store expects"],
  "format-wrong": ["bad", "The signature is not written as the App Store expects it"],
  "signed-correctly": ["good", "The signature is right"],
  "unknown-key": ["bad", "The signature is checked with another key than the one that made it"],
  "expired": ["bad", "The signature was too old"],
  "reused": ["bad", "The signature was used before"],
  "not-eligible-at-store": ["warn", "The signature is right, and the Apple account may not have the offer"],
  "offer-not-applied": ["bad", "The signature is right, and the purchase was made without the offer"],
  "undecided": ["warn", "No known mistake explains this signature"],
};
const certainties = { proved: "proved", likely: "likely", possible: "possible" };
const places = {
  "server": "on the server", "app": "in the app", "customer": "with the customer", "app-store-connect": "in App Store Connect",
};

/** The verdict with its proof. */
function verdict({ verdict, findings = [], signedBy, record }) {
  const [kind, title] = own(diagnoses, verdict) ?? ["warn", verdict];
  const isStolen = record?.state === "made-by-our-key";
  announce(title);
  return notice(
    isStolen ? "bad" : kind,
    isStolen ? "A key of this service made it, and it is not on record" : title,
    signedBy && paragraph("Made with the key ", element("code", null, value(signedBy)), "."),
    findings.length > 0 && element(
      "ul",
      { class: "findings" },
      findings.map(({ code, certainty, where, because, fix }) => element(
        "li", null,
        element("strong", null, value(`${own(certainties, certainty) ?? certainty}: `)), value(`${because}. `),
        value(`${fix} `),
        element("small", null, `(to fix ${own(places, where) ?? where}; `, element("code", null, value(code)), ")"),
      )),
    ),
    record?.redeemed === true && paragraph("The App Store reported a use of this grant."),
    record?.earlierReports > 0 && paragraph(`The same signature was looked at before: ${record.earlierReports} ${record.earlierReports === 1 ? "time" : "times"}.`),
  );
}

async function diagnose(pasted) {
  const body = report(pasted);
  return body && verdict(await post("v1/diagnoses", body));
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
  const error = element("input", { id: "found-error", autocomplete: "off", spellcheck: "false" });
  const transaction = element("textarea", { id: "found-transaction", rows: "2", spellcheck: "false", autocomplete: "off" });
  const button = element("button", { type: "submit", class: "main" }, "Find out");
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    replace(messages, element("p", { class: "waiting" }, "Looking …"));
    const text = pasted.value.trim();
    const parts = await Promise.allSettled([diagnose(text), lookUp(text).then(outcome)]);
    const signedOut = parts.find(({ reason }) => reason?.status === 401);
    if (signedOut) document.dispatchEvent(new CustomEvent("signed-out", { detail: signedOut.reason }));
    else replace(messages, shown(parts));
    button.disabled = false;
  };
  body.append(
    paragraph("Paste what the app received: the service's answer as it is, a JWS, a grant id or a nonce. What StoreKit said, and the "
      + "purchase's signed transaction, help where the signature is right."),
    element(
      "form",
      { submit, class: "lookup", "aria-label": "Why was it refused?" },
      field("Answer, JWS, grant id or nonce", pasted, "An answer of a batch works too: all of its grants are looked up."),
      field("StoreKit error, if there was one", error, "As SKErrorDomain 12, or invalidOfferSignature."),
      field("Signed transaction of the purchase, if there was one", transaction),
      element("div", { class: "buttons" }, button),
      messages,
      element(
        "details",
        { open: true },
        element("summary", null, "What the app attached, or members one by one if there is no answer to paste"),
        paragraph("What you fill in here counts as what the app handed to StoreKit instead of what the answer has."),
        element("div", { class: "grid" }, members.map(({ name, label }) =>
          field(label, element("input", { id: `found-${name}`, name, autocomplete: "off", spellcheck: "false" })))),
      ),
    ),
  );
}

/** What both calls came to: the verdict first. */
function shown([diagnosis, entry]) {
  const isStolen = entry.reason?.problem === "unrecorded-signature";
  return [
    diagnosis.status === "fulfilled" ? diagnosis.value : troubleNotice(diagnosis.reason),
    entry.status === "fulfilled" && entry.value,
    isStolen && notice("bad", entry.reason.title, entry.reason.detail && paragraph(entry.reason.detail)),
    entry.status === "rejected" && !isStolen && (entry.reason.status === 404 ? unknown(entry.reason) : missing(diagnosis, entry.reason)),
  ];
}

/** The log is not asked in vain where too little was pasted for an entry, and enough for a verdict. */
const missing = (diagnosis, reason) =>
  (diagnosis.status === "fulfilled" && diagnosis.value && reason.status === 400 ? null : troubleNotice(reason));

function unknown({ detail }) {
  announce("No entry found");
  return notice(
    "warn",
    "There is no such entry",
    detail && paragraph(detail),
    paragraph("If the app attached another appAccountToken or applicationUsername than the answer has, fill it in below."),
  );
}
