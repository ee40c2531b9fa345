// SPDX-License-Identifier: Apache-2.0
// The answer to “why was it refused?”: the verdict, what proves it, what is known beside it, and what can't be decided.

import { element, instant, notice, paragraph, value } from "./elements.js";
import { own } from "./words.js";

const titles = {
  "payload-differs": ["bad", "The signature is for something other than the App Store expects"],
  "format-wrong": ["bad", "The signature is not written as the App Store expects it"],
  "signed-correctly": ["good", "The signature is right"],
  "unknown-key": ["bad", "The signature is checked with a different key than the one that made it"],
  "expired": ["bad", "The signature was too old"],
  "reused": ["bad", "The signature was used before"],
  "not-eligible-at-store": ["warn", "The signature is right, and the Apple account may not have the offer"],
  "offer-not-applied": ["bad", "The signature is right, and the purchase was made without the offer"],
};
const certainties = { proved: "proved", likely: "likely", possible: "possible" };
const places = {
  "server": "on the server", "app": "in the app", "customer": "with the customer", "app-store-connect": "in App Store Connect",
};

/** What a report can't show, by the codes of `notDecidable`. */
export const undecidable = {
  "needs-public-key": "Which key made it. The service has no key or pin to check it with.",
  "needs-second-signature": "Whether an unknown key made it. Run offer-signer diagnose with a second report (--with).",
  "needs-fields": "What was signed. The report lacks fields: fill in all that the app attached.",
  "needs-attempt-time": "Whether the signature was too old. Fill in when the app asked to buy.",
  "same-signature-twice": "Whether one key made both signatures. The second report must hold another signature.",
  "search-not-complete": "Whether another mistake explains it. There are more combinations than a search may try.",
  "unknown-mistake": "Which mistake it is. Log the bytes that the server signs, and compare them with the seven fields.",
  "key-revoked": "Whether the key was revoked in App Store Connect.",
  "key-of-other-team": "Whether the key belongs to another team, or is an App Store Connect API key.",
  "offer-deleted": "Whether the offer is live in App Store Connect, and for this storefront and billing plan.",
  "reused": "Whether the signature was used before. Each attempt to buy needs a new one.",
};

/** Kind and words of a verdict; of an undecided one, as far as is true. */
function titleOf({ verdict, notDecidable = [], signedBy, recoveredKeySha256, record }) {
  if (record?.state === "made-by-our-key") return ["bad", "A key of this service made it, and it is not on record"];
  if (verdict !== "undecided") return own(titles, verdict) ?? ["warn", verdict];
  if (signedBy || recoveredKeySha256) return ["warn", "The signature is right for values that the report does not have"];
  if (notDecidable.includes("needs-fields")) return ["warn", "The report lacks what is needed to find the cause"];
  if (notDecidable.includes("needs-public-key")) return ["warn", "The service has no key to check the signature with"];
  if (notDecidable.includes("search-not-complete")) return ["warn", "The search found no cause, and was not complete"];
  return ["warn", "No known mistake explains this signature"];
}

const code = (text) => element("code", null, value(text));
const times = (count) => `${count} ${count === 1 ? "time" : "times"}`;

const findingItem = (finding) => element(
  "li", null,
  element("strong", null, value(`${own(certainties, finding.certainty) ?? finding.certainty}: `)), value(`${finding.because}. `),
  value(`${finding.fix} `),
  element("small", null, `(to fix ${own(places, finding.where) ?? finding.where}; `, code(finding.code), ")"),
);

const list = (title, className, items) =>
  (items.length > 0 ? [paragraph(title), element("ul", { class: className }, items)] : null);

function signer({ signedBy, recoveredKeySha256 }) {
  if (signedBy) return paragraph("Made with the key ", code(signedBy), ".");
  return recoveredKeySha256
    && paragraph("Made with a key that is not loaded. The SHA-256 of its public half is ", code(recoveredKeySha256), ".");
}

const entryLink = (index) => element("a", { href: `#/entries/${Number(index)}` }, `entry #${Number(index)}`);

/** What the audit log knows. */
function recordItems(record) {
  const at = record.recordedAt && [" of ", instant(record.recordedAt)];
  const states = {
    "recorded": () => ["This service made it: ", entryLink(record.index), at, "."],
    "recorded-otherwise": () => ["Its nonce or its time is on record: ", entryLink(record.index), at, ". That this service made it is not proved."],
    "made-by-our-key": () => "The audit log has no entry of it. If no other program of yours has the key, the key is stolen.",
    "not-recorded": () => "The audit log has no entry of it.",
  };
  return [
    own(states, record.state)?.() ?? value(record.state),
    record.expiredAtAttempt === true && "It was older than 24 hours when the app asked to buy.",
    record.redeemed === true && ["The App Store reported a use of this grant", record.redeemedAt && [" at ", instant(record.redeemedAt)], "."],
    record.redeemed === false && "The App Store has reported no use of this grant.",
    record.earlierReports > 0 && `The same signature was looked at before: ${times(record.earlierReports)}.`,
  ];
}

/** What the ledger knows of the customer. */
const ledgerItems = (ledger) => [
  `Transactions of the customer in this app that the ledger knows: ${ledger.transactions}.`,
  ledger.familyShared && "One of them is shared by a family member.",
  ledger.boughtWithoutOffer && "The product was bought within ten minutes of the signature, without the offer.",
];

/** What the App Store said. */
const storeItems = ({ outcome, subscribedBefore }) => [
  subscribedBefore === true && "The App Store says that this account has or had a subscription in this app.",
  subscribedBefore === false && "The App Store says that this account never had a subscription in this app.",
  outcome !== "answered" && ["The App Store gave no answer: ", code(outcome), "."],
];

function reported(errors) {
  const chain = errors.map(({ domain, code: number }) => `${domain} ${number}`).join(", ");
  return paragraph("Reported errors: ", value(chain), ". Codes of underlying errors are undocumented, and decide nothing.");
}

const knownOf = ({ record, ledger, store }) => [
  ...(record ? recordItems(record) : []), ...(ledger ? ledgerItems(ledger) : []), ...(store ? storeItems(store) : []),
].filter(Boolean).map((item) => element("li", null, item));

/** The verdict with its proof; `name` is that of the signature, where there are several. */
export function verdict(diagnosis, name) {
  const [kind, title] = titleOf(diagnosis);
  const { findings = [], notDecidable = [], lacking = [], errors = [], tried } = diagnosis;
  return notice(
    kind,
    title,
    name && paragraph(value(name)),
    signer(diagnosis),
    findings.length > 0 && element("ul", { class: "findings" }, findings.map(findingItem)),
    list("What is on record:", "known", knownOf(diagnosis)),
    errors.length > 0 && reported(errors),
    list("What the report cannot show:", "undecidable", notDecidable.map((name) => element(
      "li", null, value(own(undecidable, name) ?? name), " ", element("small", null, "(", code(name), ")"),
    ))),
    lacking.length > 0 && paragraph("The report lacks: ", lacking.map((member, place) => [place > 0 && ", ", code(member)]), "."),
    tried && element("p", { class: "hint" }, `Tried: payloads ${tried.hypotheses}, keys ${tried.keys}.`),
  );
}

/** The words of a verdict, for announcing. */
export const headline = (diagnosis) => titleOf(diagnosis)[1];
