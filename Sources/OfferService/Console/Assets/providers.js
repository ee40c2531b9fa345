// SPDX-License-Identifier: Apache-2.0
// Signing in by an identity provider: its buttons, and the way to it and back.

import { element, notice, paragraph, plain } from "./elements.js";
import { getJSON } from "./service.js";

const route = "offer-signer.route";

/** The providers that people can sign in by, and whether the browser has a session; nothing where that is not known. */
export async function signInOptions() {
  try {
    return await getJSON("console/providers");
  } catch {
    // The API key's way needs none of it.
    return { providers: [], session: "none" };
  }
}

/** Leaves for another site of this service's choice. */
function leave(address) {
  const { href, protocol } = new URL(address, document.baseURI);
  if (["https:", "http:"].includes(protocol)) location.assign(href);
}

function begin(name) {
  // The provider sends the browser back to the page without what is after #.
  sessionStorage.setItem(route, location.hash);
  leave(`sign-in?provider=${encodeURIComponent(name)}`);
}

/** Goes to the view that a sign-in began at. */
export function resumeRoute() {
  const kept = sessionStorage.getItem(route);
  sessionStorage.removeItem(route);
  if (kept && !location.hash) history.replaceState(null, "", kept);
}

/** A button for each provider; nothing without one. */
export const providerButtons = (providers) =>
  providers.length > 0 &&
  element(
    "section",
    { class: "providers", "aria-label": "Sign in by an identity provider" },
    element(
      "div",
      { class: "buttons" },
      providers.map(({ name, title }) =>
        element("button", { type: "button", class: "main provider", click: () => begin(name) }, `Sign in with ${plain(title)}`),
      ),
    ),
  );

/** What follows a sign-out: the person is still signed in at the provider. */
export const signedOutNotice = (address) =>
  notice(
    "good",
    "You are signed out of the console",
    address && paragraph("At your identity provider you are still signed in."),
    address && element(
      "p",
      null,
      element("button", { type: "button", id: "sign-out-there", click: () => leave(address) }, "Sign out there too"),
    ),
  );
