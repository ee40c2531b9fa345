// SPDX-License-Identifier: Apache-2.0
// The page: who is signed in, which view is shown, and what is above every view.

import { showSeal } from "./actions.js";
import { customers } from "./customers.js";
import { entries } from "./entries.js";
import { entry } from "./entry.js";
import { announce, element, field, notice, paragraph, plain, replace, value } from "./elements.js";
import { events } from "./events.js";
import { log, warnOfChangedKey } from "./log.js";
import { lookup } from "./lookup.js";
import { overview } from "./overview.js";
import { troubleNotice } from "./panels.js";
import { providerButtons, resumeRoute, signedOutNotice, signInOptions } from "./providers.js";
import { reconciliation } from "./reconciliation.js";
import { forgetKey, getJSON, hasKey, post, resumeKey, Trouble, useKey } from "./service.js";

const views = [
  { path: "", name: "Overview", show: overview },
  { path: "entries", name: "Entries", show: entries },
  { path: "find", name: "Why was it refused?", show: lookup },
  { path: "customers", name: "Find a customer", show: customers },
  { path: "reconciliation", name: "Reconciliation", show: reconciliation },
  { path: "events", name: "Events", show: events },
  { path: "log", name: "Log", show: log },
];

const [main, navigation, sessionBox, notices] = ["main", "navigation", "session", "notices"].map((id) =>
  document.getElementById(id),
);
let session = null;
let providers = [];
let leaving = new AbortController();

/** The address after `#`: a path, and conditions. */
function currentRoute() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [view, ...rest] = path.split("/");
  return { view, rest, query: new URLSearchParams(query ?? "") };
}

function viewOf(route) {
  if (route.view === "entries" && route.rest.length === 1) return { path: "entries", name: "Entry", show: entry };
  return route.rest.length ? undefined : views.find((view) => view.path === route.view);
}

function showHead(current) {
  const links = views.map(({ path, name }) =>
    element("a", { href: `#/${path}`, "aria-current": path === current?.path && "page" }, name),
  );
  replace(navigation, links);
  replace(
    sessionBox,
    element("span", null, value(session.id, "value who"), ` (${session.role})`),
    element("button", { type: "button", id: "sign-out", click: () => signOut() }, "Sign out"),
  );
  navigation.hidden = sessionBox.hidden = false;
}

async function show() {
  leaving.abort();
  leaving = new AbortController();
  if (!session) return showSignIn();
  const route = currentRoute();
  const view = viewOf(route);
  showHead(view);
  const title = element("h1", { tabindex: "-1" }, view?.name ?? "There is no such view");
  document.title = `${plain(title.textContent)} – offer-signer console`;
  const body = element("div", { class: "view" });
  const refresh = element(
    "button",
    { type: "button", id: "refresh", click: () => document.dispatchEvent(new CustomEvent("reload-view")) },
    "Refresh",
  );
  replace(main, element("div", { class: "title" }, title, view && refresh), body);
  const context = { route, session, signal: leaving.signal, title };
  if (view) view.show(body, context);
  else replace(body, paragraph("The address leads nowhere. ", element("a", { href: "#/" }, "Go to the overview"), "."));
  title.focus({ preventScroll: true });
  scrollTo(0, 0);
  void showNotices(leaving.signal);
}

async function showNotices(signal) {
  notices.setAttribute("aria-busy", "true");
  try {
    const shown = await Promise.all([showSeal(session, signal), warnOfChangedKey(signal)]);
    if (!signal.aborted) replace(notices, shown);
  } finally {
    // What follows an aborted view waits for notices of its own.
    if (!signal.aborted) notices.removeAttribute("aria-busy");
  }
}

/** Offers every way to sign in; `trouble` says why, and `message` what was done before. */
function showSignIn(trouble, message) {
  navigation.hidden = sessionBox.hidden = true;
  replace(notices);
  notices.removeAttribute("aria-busy");
  document.title = "Sign in – offer-signer console";
  const key = element("input", {
    id: "api-key", type: "password", autocomplete: "off", spellcheck: "false", required: true,
    "aria-describedby": "api-key-hint",
  });
  const keep = element("input", { id: "keep", type: "checkbox" });
  const messages = element("div", { id: "sign-in-messages" }, trouble && troubleNotice(trouble), message);
  const buttons = providerButtons(providers);
  const button = element("button", { type: "submit", class: buttons ? null : "main" }, buttons ? "Sign in with the API key" : "Sign in");
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    await signIn(key.value.trim(), keep.checked, messages);
    button.disabled = false;
  };
  const form = element(
    "form",
    { class: "sign-in", submit, "aria-label": "Sign in" },
    field("API key", key, "Of a caller with the role auditor or admin. It stays in this page's memory."),
    element("div", { class: "check" }, keep, element("label", { for: "keep" }, "Keep it for this tab, also when the page is reloaded")),
    button,
  );
  replace(
    main,
    element("h1", { tabindex: "-1" }, "Sign in"),
    paragraph("See which key signed what, for whom and when, and check that the record is unchanged."),
    messages,
    buttons,
    form,
  );
  (main.querySelector("button.provider") ?? key).focus();
}

async function signIn(key, keep, messages) {
  replace(messages);
  try {
    // Field values may only hold Latin-1; anything else can't be a key.
    if (!/^[\x21-\x7e]+$/.test(key)) throw new Trouble({ status: 401, title: "This is not an API key" });
    useKey(key, false);
    const caller = await getJSON("v1/callers/self");
    if (!["auditor", "admin"].includes(caller.role)) {
      throw new Trouble({
        status: 403,
        title: "This API key may not read the log",
        detail: `Its caller has the role ${caller.role}.`,
        advice: "Sign in with the API key of a caller whose role is auditor or admin.",
      });
    }
    session = caller;
    useKey(key, keep);
    announce(`Signed in as ${caller.id}`);
    void show();
  } catch (error) {
    forgetKey();
    if (!(error instanceof Trouble)) console.error(error);
    replace(messages, troubleNotice(error));
  }
}

/** Ends the session at the service; answers what to show the person. */
async function endSession() {
  try {
    return [null, signedOutNotice((await post("console/sign-out")).endSessionUrl)];
  } catch (error) {
    return error.status === 401 ? [null, signedOutNotice()] : [error];
  }
}

async function signOut(trouble) {
  leaving.abort();
  const hasSession = !hasKey();
  session = null;
  const [failure, message] = hasSession && !trouble ? await endSession() : [];
  forgetKey();
  showSignIn(trouble ?? failure, message);
  if (!trouble && !failure) announce(hasSession ? "Signed out" : "Signed out; the API key is forgotten");
}

async function start() {
  const options = await signInOptions();
  providers = options.providers;
  const hasKept = resumeKey();
  if (!hasKept && options.session === "ended") return showSignIn(new Trouble({ title: "Your session has ended", advice: "Sign in again." }));
  if (hasKept || options.session === "active") {
    try {
      session = await getJSON("v1/callers/self");
    } catch (error) {
      if (error.status === 401) forgetKey();
      return showSignIn(error);
    }
    resumeRoute();
  }
  return show();
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  (main.querySelector("h1") ?? main).focus();
});
document.addEventListener("signed-out", (event) => signOut(event.detail));
document.addEventListener("reload-view", () => show());
addEventListener("hashchange", () => show());
start();
