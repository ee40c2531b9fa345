// SPDX-License-Identifier: Apache-2.0
// Verifies an entry of the log in this browser, with its own SHA-256 and Ed25519; the service is believed nothing.
//
// Sources: RFC 6962 section 2.1 (hashes), RFC 9162 section 2.1.3.2 (inclusion), C2SP signed-note, tlog-checkpoint and
// tlog-proof.

/** The answer is not what it should be: changed, or not of this log. */
export class Mismatch extends Error {}

const utf8 = new TextEncoder();
const equal = (left, right) => left.length === right.length && left.every((byte, place) => byte === right[place]);

function concatenated(...parts) {
  const bytes = new Uint8Array(parts.reduce((count, part) => count + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

/** Standard base64 with padding, in the one spelling that encodes these bytes. */
export function decodeBase64(text, what = "base64") {
  try {
    const binary = atob(text);
    if (btoa(binary) === text) return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    // The error below says so.
  }
  throw new Mismatch(`The ${what} is not in base64.`);
}

export const encodeBase64 = (bytes) => btoa(String.fromCharCode(...bytes));
export const hexadecimal = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

const digest = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", concatenated(...parts)));

export const leafHash = (entry) => digest([0], entry);

/** The root of a tree of that size that has this leaf at this index, if these are the hashes beside its path. */
export async function rootFrom(leaf, index, size, path) {
  let [number, last, hash] = [BigInt(index), BigInt(size) - 1n, leaf];
  if (number > last) throw new Mismatch("The checkpoint is older than the entry.");
  for (const sibling of path) {
    if (last === 0n) throw new Mismatch("The proof has more hashes than a tree of this size.");
    if (number & 1n || number === last) {
      hash = await digest([1], sibling, hash);
      while (!(number & 1n) && number !== 0n) [number, last] = [number >> 1n, last >> 1n];
    } else {
      hash = await digest([1], hash, sibling);
    }
    [number, last] = [number >> 1n, last >> 1n];
  }
  if (last !== 0n) throw new Mismatch("The proof has fewer hashes than a tree of this size.");
  return hash;
}

function signatureLine(line) {
  const match = /^— (\S+) (\S+)$/u.exec(line);
  if (!match) throw new Mismatch("A signature line of the checkpoint is malformed.");
  const bytes = decodeBase64(match[2], "signature of the checkpoint");
  return { name: match[1], id: bytes.slice(0, 4), signature: bytes.slice(4) };
}

/** A checkpoint: a signed note of three lines. */
export function parseCheckpoint(note) {
  const end = note.lastIndexOf("\n\n");
  if (end < 0 || !note.endsWith("\n")) throw new Mismatch("The checkpoint is malformed.");
  const text = note.slice(0, end + 1);
  const [origin, size, root] = text.split("\n");
  if (!origin || !/^(0|[1-9][0-9]{0,15})$/.test(size ?? "") || !root) {
    throw new Mismatch("The checkpoint is malformed.");
  }
  const rootHash = decodeBase64(root, "root hash");
  if (rootHash.length !== 32) throw new Mismatch("The checkpoint's root is not a SHA-256 hash.");
  const signatures = note.slice(end + 2, -1).split("\n").map(signatureLine);
  return { text, origin, size: Number(size), rootHash, signatures };
}

/** A file in the form c2sp.org/tlog-proof@v1. */
export function parseProof(file) {
  const end = file.indexOf("\n\n");
  const lines = end < 0 ? [] : file.slice(0, end).split("\n");
  if (lines.shift() !== "c2sp.org/tlog-proof@v1") throw new Mismatch("The proof is not in the form tlog-proof@v1.");
  if (lines[0]?.startsWith("extra ")) lines.shift();
  const index = /^index (0|[1-9][0-9]{0,15})$/.exec(lines.shift() ?? "");
  if (!index) throw new Mismatch("The proof does not say which entry it is of.");
  const path = lines.map((line) => decodeBase64(line, "proof"));
  if (path.some((hash) => hash.length !== 32) || path.length > 63) throw new Mismatch("The proof is malformed.");
  return { index: Number(index[1]), path, checkpoint: parseCheckpoint(file.slice(end + 2)) };
}

/** A verifier key: NAME+ID+KEY, where the id is of the name and the key. */
export async function parseVerifierKey(text) {
  const match = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/u.exec(text ?? "");
  if (!match) throw new Mismatch("The log's key is malformed.");
  const [, name, id, encoded] = match;
  const bytes = decodeBase64(encoded, "key");
  if (bytes.length !== 33 || bytes[0] !== 1) throw new Mismatch("The log's key is not an Ed25519 key.");
  const expected = (await digest(utf8.encode(`${name}\n`), bytes)).slice(0, 4);
  if (hexadecimal(expected) !== id) throw new Mismatch("The log's key does not belong to its id.");
  return { name, id: expected, key: bytes.slice(1), text };
}

/** Why this browser can't check anything, or nothing. */
export function obstacle() {
  if (globalThis.crypto?.subtle) return null;
  return "This page was not loaded over HTTPS, so the browser offers it no cryptography.";
}

/**
 * Whether the log's key signed the checkpoint: true, or throws a mismatch; null if this browser has no Ed25519.
 *
 * Further signatures, as of witnesses, are counted and not checked: their keys are not known here.
 */
export async function isSigned(checkpoint, verifierKey) {
  if (checkpoint.origin !== verifierKey.name) throw new Mismatch("The checkpoint is of a different log than the key.");
  const line = checkpoint.signatures.find(
    (line) => line.name === verifierKey.name && equal(line.id, verifierKey.id),
  );
  if (!line) throw new Mismatch("The checkpoint has no signature by the log's key.");
  let key;
  try {
    key = await crypto.subtle.importKey("raw", verifierKey.key, { name: "Ed25519" }, false, ["verify"]);
  } catch (error) {
    if (error.name === "NotSupportedError") return null;
    throw new Mismatch("The log's key is not a point of the curve.");
  }
  const good = await crypto.subtle.verify({ name: "Ed25519" }, key, line.signature, utf8.encode(checkpoint.text));
  if (!good) throw new Mismatch("The checkpoint's signature is not by the log's key.");
  return true;
}

/**
 * Checks an entry step by step: from its bytes to the root, from the root to the signature.
 *
 * Returns the steps that were made, each with what it showed; the last one may say what does not fit.
 */
export async function verifyEntry({ bytes, index, proofFile, verifierKeyText }) {
  const steps = [];
  const step = (title, detail, outcome = "good") => steps.push({ title, detail, outcome });
  let title = "The proof can be read";
  try {
    const leaf = await leafHash(bytes);
    step("The entry has a hash", `SHA-256 over a zero byte and its ${bytes.length} bytes: ${hexadecimal(leaf)}`);
    const proof = parseProof(proofFile);
    title = "The entry is in the log";
    if (proof.index !== index) throw new Mismatch(`The proof is of entry ${proof.index}, not of ${index}.`);
    const { checkpoint, path } = proof;
    const root = await rootFrom(leaf, index, checkpoint.size, path);
    if (!equal(root, checkpoint.rootHash)) {
      throw new Mismatch(
        `From the entry, ${path.length} hashes lead to the root ${hexadecimal(root)}, but the checkpoint has ` +
          `${hexadecimal(checkpoint.rootHash)}.`,
      );
    }
    step(title, `As number ${index} of ${checkpoint.size}: ${path.length} hashes lead to the root ${hexadecimal(root)}`);
    title = "The log's key signed the root";
    const key = await parseVerifierKey(verifierKeyText);
    const signed = await isSigned(checkpoint, key);
    const others = checkpoint.signatures.length - 1;
    if (signed === null) step(title, "This browser has no Ed25519, so the signature was not checked.", "warn");
    else step(title, `Ed25519 key ${key.name}+${hexadecimal(key.id)}; ${others} further signatures, not checked here`);
    return { steps, checkpoint };
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    step(title, error.message, "bad");
    return { steps };
  }
}
