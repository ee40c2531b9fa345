// SPDX-License-Identifier: Apache-2.0
// The auditor's calls. The API key is held here, in memory, and sent in a header; it is never part of an address. A session
// needs none: the browser sends its cookie, which no script can read.

const root = new URL("../", document.baseURI);
const stored = "offer-signer.api-key";
let apiKey = null;

/** A call that did not end well: what happened, and what can be done. */
export class Trouble extends Error {
  constructor({ status = 0, title, detail, advice, problem, instance, retryAfter, errors = [] }) {
    super(title);
    Object.assign(this, { status, title, detail, advice, problem, instance, retryAfter, errors });
  }
}

export const keepsKey = () => sessionStorage.getItem(stored) !== null;

/** Uses this key from now on; it survives a reload of the page only if it is to be kept for this tab. */
export function useKey(key, keep) {
  apiKey = key;
  if (keep) sessionStorage.setItem(stored, key);
  else sessionStorage.removeItem(stored);
}

/** Takes up the key that was kept for this tab; false if there is none. */
export function resumeKey() {
  apiKey = sessionStorage.getItem(stored);
  return apiKey !== null;
}

export function forgetKey() {
  apiKey = null;
  sessionStorage.removeItem(stored);
}

export const hasKey = () => apiKey !== null;

/** The header without which a session does not count: no page of another site can send it. */
const mark = { "Offer-Signer-Console": "1" };

const advices = {
  0: "Check your connection, or whether the service runs, then try again.",
  session: "Sign in again.",
  401: "It is mistyped, expired or revoked. Ask an operator of the service for a new one: offer-signer callers add NAME --role auditor",
  403: "Sign in with the API key of a caller whose role may do this: auditor to read, admin to act.",
  404: "Check what was asked for; this service may also be of a version that does not have it.",
  409: "Try again in a moment.",
  429: "Wait a little, then try again.",
  500: "Try again. If it persists, an operator of the service finds the reason in its log.",
  503: "Try again in a moment; /health/ready of the service says what is wrong.",
};

function trouble(response, problem) {
  const { status } = response;
  // Without an API key, the browser's session is what was not accepted.
  const titles = apiKey === null
    ? { 401: "Your session has ended", 403: "You may not do that" }
    : { 401: "The API key is not accepted", 403: "This API key may not do that" };
  const seconds = Number(response.headers.get("Retry-After"));
  return new Trouble({
    status,
    title: titles[status] ?? problem?.title ?? `The service answered ${status}`,
    detail: problem?.detail,
    advice: advices[status === 401 && apiKey === null ? "session" : status] ?? (status >= 500 ? advices[500] : null),
    problem: problem?.type?.replace("/problems/", ""),
    instance: problem?.instance,
    retryAfter: seconds > 0 ? seconds : null,
    errors: Array.isArray(problem?.errors) ? problem.errors : [],
  });
}

async function send(path, { query, method = "GET", body, signal } = {}) {
  const address = new URL(path, root);
  for (const [name, text] of Object.entries(query ?? {})) {
    if (text !== null && text !== undefined && text !== "") address.searchParams.set(name, text);
  }
  const headers = apiKey === null ? { ...mark } : { Authorization: `Bearer ${apiKey}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const options = { method, headers, signal, cache: "no-store", redirect: "error" };
  options.credentials = apiKey === null ? "same-origin" : "omit";
  let response;
  try {
    response = await fetch(address, { ...options, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble({ title: "The service can't be reached", advice: advices[0] });
  }
  if (response.ok) return response;
  let problem = null;
  try {
    problem = JSON.parse(await response.text());
  } catch {
    // Not every answer of a proxy between us is a problem in JSON.
  }
  throw trouble(response, problem);
}

async function read(response, how) {
  try {
    return await response[how]();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble({
      status: response.status,
      title: "The answer can't be read",
      advice: "It was cut off or changed on its way. Try again; if it persists, look at what lies between you and the service.",
    });
  }
}

export const getJSON = async (path, query, signal) => read(await send(path, { query, signal }), "json");
export const getText = async (path, query, signal) => read(await send(path, { query, signal }), "text");

/** A file of any length: `report` gets how much has arrived. The browser keeps what has arrived where it has room. */
export async function getFile(path, query, report, signal) {
  const response = await send(path, { query, signal });
  let [blob, parts, waiting, count] = [new Blob([]), [], 0, 0];
  try {
    const reader = response.body.getReader();
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      parts.push(value);
      waiting += value.length;
      count += value.length;
      if (waiting > 4_000_000) {
        blob = new Blob([blob, ...parts]);
        [parts, waiting] = [[], 0];
        report(count);
      }
    }
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble({
      status: response.status,
      title: "The file was cut off",
      advice: "No part of it was saved. Try again; if it persists, look at what lies between you and the service.",
    });
  }
  return new Blob([blob, ...parts]);
}

export const post = async (path, body) => read(await send(path, { method: "POST", body }), "json");

/** Waits; ends early if the view is left. */
export function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("left", "AbortError"));
    });
  });
}
