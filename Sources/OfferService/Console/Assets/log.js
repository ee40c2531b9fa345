// SPDX-License-Identifier: Apache-2.0
// The state of the log, and the key that its checkpoints are signed with, which can be pinned.

import { grouped } from "./chart.js";
import { announce, badge, copyable, element, facts, instant, notice, paragraph, section, table, value } from "./elements.js";
import { fill } from "./panels.js";
import { isSigned, Mismatch, obstacle, parseCheckpoint, parseVerifierKey } from "./proof.js";
import { getJSON, getText } from "./service.js";
import { ago, formatted } from "./times.js";

// Apart from saved searches, the only thing that this page writes to the disk: a public key.
const stored = "offer-signer.pinned-log-key";

/** The pinned verifier key; null if there is none. */
export const pinned = () => localStorage.getItem(stored);

const readings = new WeakMap();

/** The state of the log, asked for once in a view: each reading is an entry of the log. */
function readLog(signal) {
  if (!readings.has(signal)) {
    const reading = getJSON("v1/audit/log", null, signal);
    readings.set(signal, reading);
    reading.catch(() => readings.delete(signal));
  }
  return readings.get(signal);
}

/** The key that the service names, and the one that was pinned here. */
export async function verifierKeys(signal) {
  const { verifierKey } = await readLog(signal);
  return { served: verifierKey, pinned: pinned() };
}

function setPinned(key) {
  if (key === null) localStorage.removeItem(stored);
  else localStorage.setItem(stored, key);
  announce(key === null ? "The pinned key is forgotten" : "The log's key is pinned in this browser");
  document.dispatchEvent(new CustomEvent("reload-view"));
}

/** Which key counts here, and the choice to pin or forget it. */
export function pinControls(keys) {
  const pin = () => setPinned(keys.served);
  const forget = () => setPinned(null);
  return element(
    "div",
    { class: "buttons" },
    keys.pinned === null
      ? element("button", { type: "button", id: "pin", click: pin }, "Pin this key")
      : element("button", { type: "button", id: "unpin", click: forget }, "Forget the pinned key"),
    element(
      "span",
      { class: "hint" },
      keys.pinned === null
        ? "A pinned key stays in this browser, which then warns of any other key."
        : keys.pinned === keys.served ? "The service names the key that is pinned here." : "The service names another key.",
    ),
  );
}

/** A warning for every view if the service names a different key than the pinned one. */
export async function warnOfChangedKey(signal) {
  if (pinned() === null) return null;
  try {
    const keys = await verifierKeys(signal);
    if (keys.served === keys.pinned) return null;
    return notice(
      "bad",
      "The log's key is not the one that you pinned",
      paragraph("Pinned: ", value(keys.pinned, "value mono"), ". Now: ", value(keys.served, "value mono"), "."),
      paragraph("If you did not expect a new log, someone may be showing you another one. Ask before you pin it again."),
    );
  } catch {
    // A view that needs the log says by itself that it can't be had.
    return null;
  }
}

const verificationBadge = (verification) => {
  if (!verification) return badge("warn", "not verified yet");
  const kind = verification.outcome === "intact" ? "good" : "bad";
  return [
    badge(kind, verification.outcome),
    ` ${grouped(verification.size)} entries, ${formatted(verification.at)} `,
    element("span", { class: "hint" }, ago(verification.at)),
    verification.detail && element("p", null, value(verification.detail)),
  ];
};

const quorumBadge = ({ quorum, witnesses }) => {
  if (witnesses.length === 0) return "not needed: no witness is configured";
  return badge(quorum.isMet ? "good" : "bad", quorum.isMet ? "met" : "not met");
};

const witnessKinds = { current: "good", behind: "warn", refused: "bad", unreachable: "warn" };

/** The log in a few lines. */
export async function logFacts(signal) {
  const log = await readLog(signal);
  const { checkpoint, witnesses } = log;
  return facts([
    ["Entries", grouped(log.size)],
    ["Checkpoint", checkpoint
      ? [`of ${grouped(checkpoint.size)} entries, ${formatted(checkpoint.signedAt)} `, element("span", { class: "hint" }, ago(checkpoint.signedAt))]
      : badge("warn", "none yet")],
    ["Witnesses", witnesses.length === 0
      ? [badge("warn", "none"), " Without a witness, no other party can detect that the whole log was replaced."]
      : witnesses.map(({ name, state, detail }) =>
          element("div", null, badge(witnessKinds[state] ?? "neutral", state), " ", value(name), detail && [": ", value(detail)]))],
    ["Quorum", quorumBadge(log)],
    ["Last verification", verificationBadge(log.verification)],
    ["More", element("a", { href: "#/log" }, "The log in full")],
  ]);
}

function witnessTable(witnesses) {
  if (witnesses.length === 0) return paragraph("No witness is configured.");
  return table(
    "Witnesses",
    [{ title: "Witness" }, { title: "State" }, { title: "Size it signed", number: true }, { title: "When" }, { title: "Detail" }],
    witnesses.map(({ name, state, size, cosignedAt, detail }) => [
      value(name),
      badge(witnessKinds[state] ?? "neutral", state),
      size === null || size === undefined ? "–" : grouped(size),
      cosignedAt ? instant(cosignedAt) : "never",
      detail ? value(detail) : "",
    ]),
    { class: "cards" },
  );
}

/** Whether the newest checkpoint is signed by the log's key, as this browser finds. */
async function checked(keys, signal) {
  const missing = obstacle();
  if (missing) return notice("warn", "Not verified", paragraph(missing));
  const text = await getText("audit/checkpoint", null, signal);
  try {
    const checkpoint = parseCheckpoint(text);
    const signed = await isSigned(checkpoint, await parseVerifierKey(keys.pinned ?? keys.served));
    return [
      signed
        ? notice("good", "The newest checkpoint is signed by the log's key", paragraph(`It is of ${grouped(checkpoint.size)} entries.`))
        : notice("warn", "Not verified", paragraph("This browser can't check Ed25519 signatures.")),
      copyable(text, "The checkpoint"),
    ];
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    return notice("bad", "The newest checkpoint does NOT verify", paragraph(error.message));
  }
}

export function log(body, { signal }) {
  const [state, check] = [element("div", { class: "panel-body" }), element("div", { class: "panel-body", id: "checkpoint" })];
  void fill(state, async () => {
    const log = await readLog(signal);
    const keys = { served: log.verifierKey, pinned: pinned() };
    void fill(check, () => checked(keys, signal), signal);
    return [
      facts([
        ["Origin", value(log.origin)],
        ["Entries", grouped(log.size)],
        ["Root hash", value(log.rootHash, "value mono")],
        ["Checkpoint", log.checkpoint
          ? [`of ${grouped(log.checkpoint.size)} entries, ${formatted(log.checkpoint.signedAt)} `, element("span", { class: "hint" }, ago(log.checkpoint.signedAt))]
          : badge("warn", "none yet")],
        ["Quorum", quorumBadge(log)],
        ["Last verification", verificationBadge(log.verification)],
        ["Key", value(log.verifierKey, "value mono")],
        keys.pinned !== null && ["Pinned key", value(keys.pinned, "value mono")],
      ]),
      pinControls(keys),
      element("h3", null, "Witnesses"),
      witnessTable(log.witnesses),
    ];
  }, signal);
  body.append(section("State", "state-title", state), section("Newest checkpoint", "checkpoint-title", check));
}
