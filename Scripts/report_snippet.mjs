// SPDX-License-Identifier: Apache-2.0
// Runs the JavaScript of docs/invalid-signature.md, and sends its reports to a running service.
// Usage: CLIENT_TEST_URL=URL CLIENT_TEST_KEY=KEY node Scripts/report_snippet.mjs

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";

const page = await readFile(new URL("../docs/invalid-signature.md", import.meta.url), "utf8");
const blocks = [...page.matchAll(/^```js\n(.*?)^```/gms)];
assert.equal(blocks.length, 1, "blocks of JavaScript in docs/invalid-signature.md");
const { offerReport } = await import(`data:text/javascript,${encodeURIComponent(`${blocks[0][1]}\nexport { offerReport };`)}`);

async function post(path, body) {
  const answer = await fetch(new URL(path, process.env.CLIENT_TEST_URL), {
    method: "POST",
    headers: { "Authorization": `Bearer ${process.env.CLIENT_TEST_KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, `${path}: ${text}`);
  return JSON.parse(text);
}

const [bundleId, productId] = ["com.example.app", "com.example.pro.monthly"];
const nested = { domain: "SKErrorDomain", code: 12, userInfo: { NSUnderlyingError: { domain: "ASDServerErrorDomain", code: 3903 } } };

/** What differs in the report, and the verdict, a finding and the domains of errors that it leads to. */
const rows = [
  [{ attached: {} }, "signed-correctly"],
  [{ attached: {}, error: nested }, "signed-correctly", undefined, ["SKErrorDomain", "ASDServerErrorDomain"]],
  [{ attached: {}, error: { code: "E_USER_CANCELLED" } }, "signed-correctly", "cancelled", ["unknown"]],
  [{ attached: {}, error: { domain: "SKErrorDomain", code: "18" } }, "not-eligible-at-store", "not-eligible-at-store", ["SKErrorDomain"]],
  [{ attached: {}, error: new Error("without a code") }, "signed-correctly", undefined, ["unknown"]],
  [{ attached: { appAccountToken: null } }, "payload-differs", "token-not-attached"],
  [{ attached: { appAccountToken: randomUUID() } }, "payload-differs", "other-token-signed"],
  [{ attached: { signature: (answer) => `"${answer.signature}"` } }, "format-wrong", "signature-quoted"],
];

for (const [differing, verdict, finding, domains] of rows) {
  const answer = await post("v1/app-store/promotional-offers/signatures", {
    bundleId, productId, offerId: "winback_3m", appAccountToken: randomUUID(), customerId: randomUUID(),
    facts: { status: "expired", expiresAt: "2026-01-01T00:00:00Z" }, formats: ["v1"],
  });
  const attached = { ...differing.attached };
  if (attached.signature) attached.signature = attached.signature(answer);
  const client = { library: "react-native-iap", version: "16.3.2", os: "iOS 26.1" };
  const report = offerReport({ answer, bundleId, productId, client, attemptedAt: Date.now(), ...differing, attached });
  const diagnosis = await post("v1/diagnoses", report);
  const shown = JSON.stringify([report, diagnosis]);
  assert.equal(diagnosis.verdict, verdict, shown);
  if (finding) assert(diagnosis.findings.some(({ code }) => code === finding), shown);
  assert.deepEqual(diagnosis.errors?.map(({ domain }) => domain), domains, shown);
}
console.log(`The JavaScript of docs/invalid-signature.md makes ${rows.length} reports that the service reads.`);
