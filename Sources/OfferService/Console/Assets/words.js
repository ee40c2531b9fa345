// SPDX-License-Identifier: Apache-2.0
// What the codes of the log mean, in words. A code without a word is shown as it is.

/** Events, as docs/audit-log.md has them. */
export const events = {
  "sign.intent": "Signed",
  "sign.deny": "Refused",
  "sign.failed": "Signing failed",
  "authorize.intent": "Authorized",
  "authorize.deny": "Refused",
  "service.start": "Service started",
  "service.stop": "Service stopped",
  "service.seal": "Service sealed",
  "service.sealed": "Seal in force",
  "service.unseal": "Service unsealed",
  "clock.step": "Clock jumped",
  "key.load": "Key loaded",
  "key.disable": "Key disabled",
  "key.disabled": "Disabling in force",
  "key.enable": "Key enabled",
  "config.load": "Configuration loaded",
  "config.refuse": "Configuration refused",
  "caller.create": "Caller added",
  "caller.key": "API key added",
  "caller.revoke": "API key revoked",
  "session.begin": "Signed in to the console",
  "session.end": "Console session ended",
  "audit.read": "Log was read",
  "audit.fetch": "Log was fetched",
  "audit.export": "Log exported",
  "audit.resume": "Recording resumed",
  "log.restarted": "New log begun",
  "ledger.moved": "Ledger moved here",
  "ledger.left": "Ledger moved away",
  "noise": "Unauthenticated traffic",
  "refusals": "Refusals, counted",
  "epoch.begin": "New customer secret",
  "epoch.destroy": "Customer secret destroyed",
  "customer.lookup": "Customer looked up",
  "customer.transferred": "Customer transferred",
  "customer.attributes": "Attributes stored",
  "subscription.transferred": "Subscription transferred",
  "account.intent": "Account token to be set",
  "account.outcome": "Account token: the store's answer",
  "store.notification": "Store notification",
  "store.token": "Token for a store",
  "offer.redemption": "Offer redeemed",
  "grant.unredeemed": "Offer never redeemed",
  "offer.missed": "Bought without the offer",
  "signature.diagnosed": "Signature diagnosed",
};

/** Findings, as docs/rules.md has them. */
export const findings = {
  "all-met": "all conditions hold",
  "all-not-met": "one of several conditions does not hold",
  "all-undecided": "one of several conditions is not known",
  "any-met": "one of the conditions holds",
  "any-not-met": "none of the conditions holds",
  "any-undecided": "no condition holds, and one is not known",
  "not-met": "the excluded condition does not hold",
  "not-not-met": "the excluded condition holds",
  "not-undecided": "not known whether an excluded condition holds",
  "subscribed-before": "subscribed before",
  "never-subscribed": "never subscribed before",
  "subscribed-before-unknown": "not known whether there was a subscription before",
  "status-matches": "the subscription has the required status",
  "status-differs": "the subscription has another status",
  "status-unknown": "the status of the subscription is not known",
  "lapsed": "lapsed for the required time",
  "lapsed-too-short": "lapsed too recently",
  "lapsed-too-long": "lapsed too long ago",
  "not-lapsed": "the subscription has not lapsed",
  "lapse-status-unknown": "not known whether the subscription has lapsed",
  "lapse-expiry-unknown": "not known when the subscription lapsed",
  "auto-renew-on": "the subscription renews",
  "auto-renew-off": "the subscription does not renew",
  "auto-renew-unknown": "not known whether the subscription renews",
  "is-active": "the customer has access",
  "is-not-active": "the customer has no access",
  "is-active-unknown": "not known whether the customer has access",
  "cancelled": "cancelled for the required time",
  "cancelled-too-short": "cancelled too recently",
  "cancelled-too-long": "cancelled too long ago",
  "not-cancelled": "the customer has not cancelled",
  "cancellation-unknown": "not known when the customer cancelled",
  "renews-to-matches": "renews to one of the products listed",
  "renews-to-differs": "renews to none of the products listed",
  "renews-to-unknown": "not known which product renews",
  "billing-plan-matches": "the billing plan is the required one",
  "billing-plan-differs": "the billing plan is another",
  "billing-plan-unknown": "not known which billing plan the customer has",
  "price-step-up-consent-matches": "the consent to the price step-up is the required one",
  "price-step-up-consent-differs": "the consent to the price step-up is another",
  "price-step-up-consent-unknown": "not known whether the customer agreed to a price step-up",
  "app-origin-matches": "the app came onto the device in a required way",
  "app-origin-differs": "the app came onto the device in another way",
  "app-origin-unknown": "not known how the app came onto the device",
  "device-integrity-met": "the app's device meets the required integrity",
  "device-integrity-lower": "the app's device meets a lower integrity than required",
  "device-integrity-unknown": "not known which integrity the app's device meets",
  "app-licensed": "the user got the app from Google Play",
  "app-not-licensed": "the user did not get the app from Google Play",
  "app-license-unknown": "not known whether the user got the app from Google Play",
  "no-commitment": "the billing plan has no commitment",
  "commitment-ends-soon": "the commitment ends soon enough",
  "commitment-ends-later": "the commitment ends too late",
  "commitment-over": "the commitment has ended",
  "commitment-end-unknown": "not known when the commitment ends",
  "commitment-period-matches": "the commitment is in a period required",
  "commitment-period-differs": "the commitment is in another period",
  "commitment-period-unknown": "not known which period of the commitment runs",
  "apple-win-back": "the App Store has a win-back offer",
  "no-apple-win-back": "the App Store has no win-back offer",
  "apple-win-back-unknown": "not known whether the App Store has a win-back offer",
  "transaction-unknown-to-store": "the store does not know the transaction",
  "purchase-unknown-to-store": "the store does not know the purchase",
  "purchase-expired-too-long": "the store has forgotten the purchase",
  "purchase-replaced": "another purchase took its place",
  "purchase-unreadable": "the store's answer about the purchase could not be read",
  "store-entry-unreadable": "part of the store's answer could not be read",
  "known-of-other-group": "known only of another subscription group",
  "used-offers-within-limit": "few enough offers were used",
  "used-offers-over-limit": "too many offers were used",
  "used-offers-unknown": "not known how many offers were used",
  "grants-below-cap": "fewer grants than the cap",
  "grants-cap-reached": "the cap of grants is reached",
  "cooldown-over": "the cooldown is over",
  "cooldown-running": "the last grant is too recent",
  "customer-unknown": "the request does not name the customer",
  "customer-unproven": "nothing proves who the customer is",
  "original-transaction-unknown": "the original transaction is not known",
  "budget-left": "the budget is not spent",
  "budget-spent": "the budget is spent",
  "window-open": "the offer is open",
  "window-not-yet-open": "the offer is not open yet",
  "window-closed": "the offer is closed",
  "storefront-matches": "the storefront is one of the offer's",
  "storefront-differs": "the storefront is another",
  "storefront-unknown": "the storefront is not known",
  "region-matches": "the region is one of the offer's",
  "region-differs": "the region is another",
  "region-unknown": "the region is not known",
  "ownership-matches": "the subscription is owned as required",
  "ownership-differs": "the subscription is owned otherwise, such as by family sharing",
  "ownership-unknown": "not known how the subscription is owned",
  "refunded": "there was a refund",
  "not-refunded": "there was no refund",
  "refunds-unknown": "not known whether there was a refund",
  "environment-matches": "the environment is the required one",
  "environment-differs": "the environment is another",
  "environment-unknown": "the environment is not known",
  "attribute-matches": "the attribute has the required value",
  "attribute-differs": "the attribute has another value",
  "attribute-exists": "the attribute is there",
  "attribute-absent": "the attribute is missing",
  "attribute-unknown": "the attribute is not known",
  "attribute-wrong-type": "the attribute is of another type",
};

const outcomes = { notEligible: "not eligible", undecided: "undecided", eligible: "offer not usable" };
const causes = {
  administrator: "by an administrator", file: "by the seal file", checkpoint: "the log contradicts its checkpoint",
  "clock-unsynchronised": "the clock is not synchronized",
};

export const own = (table, name) => (Object.hasOwn(table, name) ? table[name] : null);
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const eventName = (event) => own(events, event) ?? event;
export const outcomeName = (outcome) => own(outcomes, outcome) ?? outcome;
export const causeName = (cause) => own(causes, cause) ?? cause;
export const findingName = (code) => capital(own(findings, code) ?? String(code));

/** A finding of an entry's `why` as a sentence; of `not`, with what must not hold. */
export function findingSentence({ code, of }) {
  if (of === undefined || !["not-not-met", "not-undecided"].includes(code)) return findingName(code);
  const condition = own(findings, of) ?? of;
  return code === "not-not-met" ? `Must not hold, but does: ${condition}` : `Must not hold: ${condition}`;
}

/** Why something was recorded, in a few words: of a refusal its reason, of a reading what was read; else nothing. */
export function reasonOf(entry) {
  if (Array.isArray(entry.why)) {
    const sentences = entry.why.map((why) => (typeof why === "object" && why !== null ? findingSentence(why) : String(why)));
    if (sentences.length === 0) return entry.fault ?? "";
    return [entry.fault, ...sentences].filter(Boolean).join(". ");
  }
  if (typeof entry.why === "string") return entry.why;
  if (entry.fault) return String(entry.fault);
  if (entry.cause) return entry.reason ? `${causeName(entry.cause)}: ${entry.reason}` : causeName(entry.cause);
  if (entry.ev === "audit.read") return [entry.call, ...(Array.isArray(entry.for) ? entry.for : [])].join(" ");
  if (entry.match === "earlier") return "Older than the log or the offer's entry in the catalog";
  if (entry.match === "none") return "No grant on record";
  if (entry.match === "other-account") return "Granted to another account";
  return "";
}
