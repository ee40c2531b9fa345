// SPDX-License-Identifier: Apache-2.0
// One entry in full, read from the very bytes whose hash is in the log, and its proof, verified here.

import { announce, badge, copyable, element, facts, notice, paragraph, replace, section, value } from "./elements.js";
import { pinned, pinControls, verifierKeys } from "./log.js";
import { fill } from "./panels.js";
import { decodeBase64, obstacle, verifyEntry } from "./proof.js";
import { entriesLink } from "./query.js";
import { getJSON, getText, pause } from "./service.js";
import { formatted, localTime } from "./times.js";
import { eventName, findingSentence, outcomeName } from "./words.js";

const meanings = {
  account: "service account", allow: "allows the offer", aud: "audience", base: "base plan", bundle: "bundle id",
  caller: "caller", chain: "chain of purchases", ck: "API key", count: "how many", digest: "digest that was signed (SHA-256)",
  ev: "event", exp: "expires", expires: "expires", fmt: "form of the signature", from: "from", grant: "grant",
  keys: "keys file (SHA-256)",
  kid: "key", names: "attributes", nonce: "nonce", offer: "offer", outcome: "outcome", package: "package name", product: "product",
  rid: "request", role: "role", rule: "rule", rules: "offers file (SHA-256)", spki: "public key (SHA-256)",
  state: "state", status: "status", stored: "attributes that were stored before", t: "recorded at", to: "to",
  ts: "signed at", type: "type", users: "customer, as pseudonyms",
  v: "version of the form", why: "why",
};
const searchable = {
  ev: "event", kid: "key", caller: "caller", bundle: "bundle", package: "package", product: "product", offer: "offer",
  rule: "rule", outcome: "outcome", grant: "grant", nonce: "nonce", digest: "digest", rid: "request",
};

function member(name, content) {
  if (name === "users" && Array.isArray(content)) {
    return content.map((user) => element("div", null, element("a", { href: entriesLink({ user: String(user) }) }, value(user, "value mono"))));
  }
  if (name === "why" && Array.isArray(content)) {
    return content.map((finding) =>
      typeof finding === "object" && finding !== null
        ? element(
            "div",
            null,
            value(findingSentence(finding)),
            element("small", null, " (", element("code", null, value([finding.rule, finding.answer, finding.code].join(", "))), ")"),
          )
        : element("div", null, value(String(finding))));
  }
  if ((name === "t" || name === "ts") && Number.isInteger(content)) {
    const local = localTime(content);
    return `${formatted(content)} UTC (${content})${local ? `, ${local}` : ""}`;
  }
  if (content !== null && typeof content === "object") return value(JSON.stringify(content), "value mono");
  const shown = value(String(content), "value mono");
  const linked = searchable[name] ? element("a", { href: entriesLink({ [searchable[name]]: String(content) }) }, shown) : shown;
  const word = name === "ev" ? eventName(content) : name === "outcome" ? outcomeName(content) : content;
  return word === content ? linked : [linked, element("span", { class: "hint" }, ` ${word}`)];
}

function content(bytes, text) {
  let members;
  try {
    members = Object.entries(JSON.parse(text));
  } catch {
    return notice("bad", "The entry is not JSON", paragraph("Its bytes are below."), element("pre", { tabindex: "0" }, text));
  }
  return [
    facts(members.map(([name, content]) => [
      [meanings[name] ?? "", " ", element("code", null, name)],
      member(name, content),
    ])),
    element(
      "details",
      null,
      element("summary", null, `The exact ${bytes.length} bytes`),
      element("pre", { tabindex: "0", "aria-label": "The entry as it is stored" }, text),
    ),
  ];
}

/** The proof; a checkpoint covers a new entry within about a second, so it is worth waiting for. */
async function proofOf(index, signal) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await getText(`v1/audit/entries/${index}/proof`, null, signal);
    } catch (error) {
      if (error.problem !== "not-yet-covered" || attempt === 5) throw error;
      await pause(1000 * (error.retryAfter ?? 1), signal);
    }
  }
}

function verdict(steps, key) {
  if (steps.some(({ outcome }) => outcome === "bad")) {
    return notice(
      "bad",
      "This entry does NOT verify",
      paragraph(
        "What the service shows does not fit what the log's key has signed: the entry, the proof or the checkpoint was ",
        "changed, in the database or on the way. Keep what you see, and follow “Verify the log” in the runbook.",
      ),
    );
  }
  if (steps.some(({ outcome }) => outcome === "warn")) {
    return notice(
      "warn",
      "Verified in part",
      paragraph("This browser can't check Ed25519 signatures. Use a newer one, or: offer-signer audit verify"),
    );
  }
  return notice(
    "good",
    "Verified in this browser",
    paragraph(
      "The entry is in the log exactly as shown, and the log's key signed for it. ",
      pinned() === key ? "It is the key that you pinned." : "The key is the one that the service names today: pin it to notice a change.",
    ),
  );
}

async function verification(index, bytes, signal) {
  const missing = obstacle();
  if (missing) {
    return notice("warn", "Not verified", paragraph(missing, " Open the console over HTTPS, or use: offer-signer audit proof"));
  }
  const [proofFile, keys] = await Promise.all([proofOf(index, signal), verifierKeys(signal)]);
  const key = keys.pinned ?? keys.served;
  const { steps } = await verifyEntry({ bytes, index, proofFile, verifierKeyText: key });
  const outcome = verdict(steps, key);
  announce(outcome.querySelector("strong").textContent);
  return [
    outcome,
    element(
      "ol",
      { class: "steps" },
      steps.map(({ title, detail, outcome }) =>
        element("li", null, badge(outcome, title), element("p", { class: "mono detail" }, detail)),
      ),
    ),
    // A key is not to be trusted at the very moment when something does not fit.
    steps.every(({ outcome }) => outcome !== "bad") && pinControls(keys),
    element("details", null, element("summary", null, "The proof (tlog-proof@v1)"), copyable(proofFile, "The proof")),
  ];
}

export function entry(body, { route, signal, title }) {
  const index = Number(route.rest[0]);
  if (!/^(0|[1-9][0-9]{0,14})$/.test(route.rest[0])) {
    replace(body, notice("bad", "There is no such entry", paragraph("An entry's number is a whole number from 0.")));
    return;
  }
  replace(title, `Entry ${index}`);
  document.title = `Entry ${index} – offer-signer console`;
  const [shown, proof] = [element("div", { class: "panel-body" }), element("div", { class: "panel-body", id: "proof" })];
  const beside = element(
    "nav",
    { class: "pages", "aria-label": "Entries beside this one" },
    index > 0 && element("a", { href: `#/entries/${index - 1}` }, `Entry ${index - 1}`),
    element("a", { href: `#/entries/${index + 1}` }, `Entry ${index + 1}`),
  );
  void fill(shown, async () => {
    const answer = await getJSON(`v1/audit/entries/${index}`, null, signal);
    const bytes = decodeBase64(answer.bytes, "entry");
    void fill(proof, () => verification(index, bytes, signal), signal);
    return content(bytes, new TextDecoder().decode(bytes));
  }, signal);
  body.append(beside, section("Proof", "proof-title", proof), section("Content", "content-title", shown));
}
