// SPDX-License-Identifier: Apache-2.0
// Parts of a view that are loaded by themselves, so that one call that fails leaves the others to be read.

import { element, notice, paragraph, replace } from "./elements.js";
import { Trouble } from "./service.js";

/** What went wrong, for people, with a way to try again. */
export function troubleNotice(error, retry) {
  const known = error instanceof Trouble;
  const title = known ? error.title : "This page has an error";
  const wait = known && error.retryAfter ? ` The service asks to wait ${error.retryAfter} seconds.` : "";
  return notice(
    "bad",
    title,
    known ? error.detail && paragraph(error.detail) : paragraph(error.message),
    known && error.errors.length > 1 && element(
      "ul",
      null,
      error.errors.map(({ pointer, parameter, detail }) => element("li", null, element("code", null, pointer ?? parameter ?? ""), ` ${detail ?? ""}`)),
    ),
    known && (error.advice || wait) && paragraph(`${error.advice ?? ""}${wait}`),
    known && error.instance && element("p", { class: "hint" }, `Request ${error.instance.replace("urn:uuid:", "")}`),
    retry && element("p", null, element("button", { type: "button", click: retry }, "Try again")),
  );
}

/**
 * Fills a container with what `load` answers; shows that it is waiting, and what went wrong.
 *
 * A key that is no longer accepted ends the session, for which there is an event. With `keeps`, what is there stays until
 * there is something newer.
 */
export async function fill(container, load, signal, { keeps = false } = {}) {
  container.setAttribute("aria-busy", "true");
  if (!keeps) replace(container, element("p", { class: "waiting" }, "Loading …"));
  try {
    const content = await load(signal);
    if (signal?.aborted) return;
    replace(container, content);
  } catch (error) {
    if (error.name === "AbortError" || signal?.aborted) return;
    if (error instanceof Trouble && error.status === 401) {
      document.dispatchEvent(new CustomEvent("signed-out", { detail: error }));
      return;
    }
    if (!(error instanceof Trouble)) console.error(error);
    replace(container, troubleNotice(error, () => fill(container, load, signal)));
  } finally {
    container.removeAttribute("aria-busy");
  }
}

/** A section that loads itself. */
export function panel(title, id, load, signal) {
  const body = element("div", { class: "panel-body" });
  void fill(body, load, signal);
  return element("section", { "aria-labelledby": id, class: "panel" }, element("h2", { id }, title), body);
}
