// SPDX-License-Identifier: Apache-2.0
// Finds out why a signature was refused, and its entry: paste what the app received, and what StoreKit said.

import { announce, element, field, notice, paragraph, replace, value } from "./elements.js";
import { entryTable } from "./entries.js";
import { troubleNotice } from "./panels.js";
import { pause, post, Trouble } from "./service.js";
import { headline, verdict } from "./verdict.js";

const members = [
  { name: "bundleId", label: "Bundle id" },
  { name: "productId", label: "Product id" },
  { name: "offerId", label: "Offer identifier" },
  { name: "keyIdentifier", label: "Key identifier" },
  { name: "nonce", label: "Nonce" },
  { name: "timestamp", label: "Timestamp (milliseconds)" },
  { name: "appAccountToken", label: "appAccountToken, if one was attached", isAccount: true },
  { name: "applicationUsername", label: "applicationUsername, if one was attached", isAccount: true },
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

/** What was filled in of the members; without the account, where the app attached none. */
function typed() {
  const isNothing = input("nothing").checked;
  const given = members.filter(({ isAccount }) => !(isAccount && isNothing))
    .map(({ name }) => [name, input(name).value.trim()]).filter(([, text]) => text);
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

/** When the app asked to buy, in milliseconds; as the log writes times, or as a number. */
function attempt(text) {
  if (/^[0-9]{1,16}$/.test(text)) return Number(text);
  const [, day, time] = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)Z?$/.exec(text) ?? [];
  const at = Date.parse(`${day}T${time}Z`);
  if (!Number.isNaN(at)) return at;
  throw new Trouble({
    title: "The time of the attempt can't be read",
    detail: "Write it in UTC, as 2026-11-26 14:30:05, or in milliseconds since 1970.",
  });
}

/** What StoreKit and the purchase add to a report; the same for each signature. */
function circumstances() {
  const more = {};
  const text = (name) => input(name)?.value.trim();
  if (text("error")) more.error = storeKitError(text("error"));
  if (text("transaction")) more.signedTransaction = text("transaction");
  if (text("attemptedAt")) more.attemptedAt = attempt(text("attemptedAt"));
  // Only administrators have the box.
  if (input("askStore")?.checked) {
    more.askStore = true;
    if (text("transactionId")) more.transactionId = text("transactionId");
  }
  return more;
}

/** The signatures of an answer; of a batch, each grant. */
function signaturesIn(answer) {
  const several = [answer, answer.results, answer.signatures].find(Array.isArray);
  return several ? several.map((result) => result?.grant ?? result) : [answer];
}

/** What the service is asked about each signature; nothing where nothing that was pasted has one. */
function reports(pasted) {
  const answer = answerIn(pasted);
  const jws = /^[\w-]+\.[\w-]+\.[\w-]+$/.exec(pasted)?.[0];
  const { signature, ...given } = typed();
  const attached = { ...(answer ? given : {}), ...(input("nothing").checked ? { appAccountToken: null, applicationUsername: null } : {}) };
  const found = answer ? signaturesIn(answer) : [{ ...given, ...(jws ? { jws } : {}) }];
  const bodies = found.map((body) => ({
    ...body,
    ...(Object.keys(attached).length > 0 ? { attached: { ...body?.attached, ...attached } } : {}),
    ...(signature && found.length === 1 ? { signature } : {}),
  })).filter((body) => body.signature || body.jws || body.signatureJws);
  if (bodies.length === 0) return [];
  const more = circumstances();
  return bodies.map((body) => ({ ...body, ...more }));
}

/** Asks; the service limits lookups per second, and a batch may have more. */
async function ask(body) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await post("v1/diagnoses", body);
    } catch (error) {
      if (error.status !== 429 || tries === 3) throw error;
      await pause((error.retryAfter ?? 1) * 1000);
    }
  }
}

/** A verdict for each signature; null if there is none. */
async function diagnose(pasted) {
  const bodies = reports(pasted);
  if (bodies.length === 0) return null;
  if (bodies.length === 1) {
    const diagnosis = await ask(bodies[0]);
    announce(headline(diagnosis));
    return verdict(diagnosis);
  }
  const verdicts = [];
  for (const [place, body] of bodies.entries()) {
    const name = [`${place + 1} of ${bodies.length}`, body.identifier ?? body.offerId, body.nonce].filter(Boolean).join(", ");
    try {
      verdicts.push(verdict(await ask(body), name));
    } catch (error) {
      if (error.status === 401) throw error;
      verdicts.push(element("p", null, value(name)), troubleNotice(error));
    }
  }
  announce(`${bodies.length} verdicts`);
  return verdicts;
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

const check = (name, label, change) => element(
  "div",
  { class: "check" },
  element("input", { type: "checkbox", id: `found-${name}`, change }),
  element("label", { for: `found-${name}` }, label),
);

/** Whether the App Store is asked, too, and about which customer. */
const storeQuestion = () => [
  check("askStore", "Ask the App Store once whether the account ever subscribed in this app"),
  field(
    "Transaction ID of the customer, if there is no signed transaction",
    element("input", { id: "found-transactionId", autocomplete: "off", spellcheck: "false", "aria-describedby": "found-transactionId-hint" }),
    "Only for the question to the App Store.",
  ),
];

export function lookup(body, { session }) {
  const messages = element("div", { "aria-live": "polite", id: "lookup-outcome" });
  const pasted = element("textarea", {
    id: "found-answer", rows: "6", spellcheck: "false", autocomplete: "off", "aria-describedby": "found-answer-hint",
  });
  const error = element("input", { id: "found-error", autocomplete: "off", spellcheck: "false" });
  const transaction = element("textarea", { id: "found-transaction", rows: "2", spellcheck: "false", autocomplete: "off" });
  const attemptedAt = element("input", { id: "found-attemptedAt", autocomplete: "off", spellcheck: "false", "aria-describedby": "found-attemptedAt-hint" });
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
      field("Answer, JWS, grant id or nonce", pasted, "An answer of a batch works too: each of its grants gets a verdict."),
      field("StoreKit error, if there was one", error, "As SKErrorDomain 12, or invalidOfferSignature."),
      field("Signed transaction of the purchase, if there was one", transaction),
      field("When the app asked to buy (UTC), if it is known", attemptedAt, "2026-11-26 14:30:05, or milliseconds since 1970."),
      session.role === "admin" && storeQuestion(),
      element("div", { class: "buttons" }, button),
      messages,
      element(
        "details",
        { open: true },
        element("summary", null, "What the app attached, or members one by one if there is no answer to paste"),
        paragraph("What you fill in here replaces the answer's value: it is what the app gave to StoreKit."),
        element("div", { class: "grid" }, members.map(({ name, label }) =>
          field(label, element("input", { id: `found-${name}`, name, autocomplete: "off", spellcheck: "false" })))),
        check("nothing", "The app attached neither appAccountToken nor applicationUsername", (event) => {
          for (const { name } of members.filter(({ isAccount }) => isAccount)) input(name).disabled = event.target.checked;
        }),
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
    paragraph("If the app attached a different appAccountToken or applicationUsername than the answer has, fill it in below."),
  );
}
