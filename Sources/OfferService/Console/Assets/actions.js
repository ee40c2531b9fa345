// SPDX-License-Identifier: Apache-2.0
// What administrators do here: disable and enable keys, seal and unseal. Each asks first, and the reason goes on record.

import { announce, element, field, instant, notice, paragraph, plain, replace, value } from "./elements.js";
import { troubleNotice } from "./panels.js";
import { getJSON, post } from "./service.js";
import { causeName } from "./words.js";

/** Asks whether to go on, and for a reason where one is recorded; the dialog keeps the focus until it is closed. */
function confirm({ title, explanation, button, asksReason, act }) {
  const reason = asksReason && element("input", {
    id: "reason", required: true, maxlength: "200", pattern: "[ -~]+", autocomplete: "off", "aria-describedby": "reason-hint",
  });
  const messages = element("div", { "aria-live": "assertive" });
  const go = element("button", { type: "submit", class: "danger" }, button);
  const dialog = element(
    "dialog",
    { "aria-labelledby": "dialog-title", close: () => dialog.remove() },
    element(
      "form",
      {
        "aria-labelledby": "dialog-title",
        submit: async (event) => {
          event.preventDefault();
          go.disabled = true;
          try {
            await act(reason ? reason.value.trim() : null);
            dialog.close();
            announce(`${plain(title)}: done`);
            document.dispatchEvent(new CustomEvent("reload-view"));
          } catch (error) {
            replace(messages, troubleNotice(error));
            go.disabled = false;
          }
        },
      },
      element("h2", { id: "dialog-title" }, title),
      paragraph(explanation),
      reason && field("Reason, for the record", reason, "Up to 200 printable ASCII characters."),
      messages,
      element(
        "div",
        { class: "buttons" },
        element("button", { type: "button", click: () => dialog.close() }, "Cancel"),
        go,
      ),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}

/** The button that disables an active key, or enables one that an administrator disabled. */
export function keyButton(key) {
  const path = (verb) => `v1/keys/${encodeURIComponent(key.id)}/${verb}`;
  if (key.state === "disabled" && key.disabledBy === "file") {
    return element("span", { class: "hint" }, "in the keys file");
  }
  const isDisabled = key.state === "disabled";
  const verb = isDisabled ? "enable" : "disable";
  const ask = () =>
    confirm({
      title: `${isDisabled ? "Enable" : "Disable"} key ${key.id}?`,
      explanation: isDisabled
        ? "It signs again at once."
        : "From now on it signs nothing. Its earlier signatures stay valid in the stores for up to 24 hours.",
      button: isDisabled ? "Enable the key" : "Disable the key",
      asksReason: false,
      act: () => post(path(verb)),
    });
  return element("button", { type: "button", click: ask, "aria-label": `${verb} key ${plain(key.id)}` }, isDisabled ? "Enable" : "Disable");
}

function sealButton(isSealed) {
  const ask = () =>
    confirm({
      title: isSealed ? "Unseal the service?" : "Seal the service?",
      explanation: isSealed
        ? "It signs again, unless something other than an administrator has sealed it."
        : "No key signs anything for any app until it is unsealed. The log can still be read.",
      button: isSealed ? "Unseal" : "Seal",
      asksReason: true,
      act: (reason) => post(isSealed ? "v1/unseal" : "v1/seal", { reason }),
    });
  return element("button", { type: "button", id: "seal", click: ask }, isSealed ? "Unseal …" : "Seal …");
}

/** Whether the service is sealed and why; for administrators, with the button that changes it. */
export async function showSeal(session, signal) {
  let state;
  try {
    state = await getJSON("v1/seal", null, signal);
  } catch (error) {
    if (error.name === "AbortError" || error.status === 401) return null;
    return notice("warn", "Whether the service is sealed is not known", paragraph(error.title));
  }
  const button = session.role === "admin" && sealButton(state.isSealed);
  if (!state.isSealed) return button && element("div", { class: "buttons seal" }, badgeOfSeal(), button);
  return notice(
    "bad",
    "The service is sealed: nothing is signed",
    element("ul", null, state.causes.map(({ cause, since, detail }) =>
      element("li", null, value(causeName(cause)), " since ", instant(since), detail && [": ", value(detail)]))),
    button && element("p", null, button),
  );
}

const badgeOfSeal = () => element("span", { class: "hint" }, "The service signs.");
