// SPDX-License-Identifier: Apache-2.0
// Shows new entries as they come.

import { announce, element } from "./elements.js";
import { parseCheckpoint } from "./proof.js";
import { getText, pause } from "./service.js";

const interval = 3000;

/**
 * A button that has a list of entries loaded again whenever there are new ones.
 *
 * What is asked again and again is the checkpoint, which leaves nothing in the log but a count each minute. Each reading of
 * entries leaves one entry itself, which is not new to anybody.
 */
export function followButton({ sizeShown, refresh, signal }) {
  let isOn = false;
  const button = element("button", { type: "button", id: "follow", "aria-pressed": "false" }, "Follow new entries");
  const stop = (why) => {
    isOn = false;
    button.setAttribute("aria-pressed", "false");
    button.textContent = "Follow new entries";
    if (why) announce(why);
  };
  const look = async () => {
    while (isOn && !signal.aborted) {
      await pause(interval, signal);
      if (document.hidden || !isOn) continue;
      const { size } = parseCheckpoint(await getText("audit/checkpoint", null, signal));
      if (size > sizeShown() + 1) await refresh();
    }
  };
  button.addEventListener("click", async () => {
    if (isOn) return stop("New entries are no longer followed");
    isOn = true;
    button.setAttribute("aria-pressed", "true");
    button.textContent = "Following; stop";
    announce("New entries appear by themselves");
    try {
      await look();
    } catch (error) {
      if (error.name !== "AbortError") stop("New entries are no longer followed: the service can't be reached");
    }
  });
  return button;
}
