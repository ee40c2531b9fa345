// SPDX-License-Identifier: Apache-2.0
// The receivers of events and of the log: how far each is, and what it has not taken.

import { grouped } from "./chart.js";
import { badge, element, instant, notice, paragraph, table, value } from "./elements.js";
import { panel } from "./panels.js";
import { getJSON } from "./service.js";
import { ago } from "./times.js";
import { own } from "./words.js";

const kinds = { webhook: "Webhook", relay: "Relay of notifications", syslog: "Audit log by syslog", file: "Audit log in a file" };
const formats = { standard: "Standard Webhooks", cloudevents: "CloudEvents", purchasely: "Purchasely" };
const states = { starting: "neutral", delivering: "good", waiting: "warn", paused: "bad", disabled: "bad" };

const name = (words, text) => value(own(words, text) ?? text);
const entryLink = (index) => element("a", { href: `#/entries/${index}` }, `#${index}`);

/** What an administrator types where the service runs; the page itself changes no receiver. */
const commands = {
  disabled: (id) => `offer-signer events endpoints --enable ${id}`,
  paused: (id) => `offer-signer events endpoints --enable ${id}`,
  givenUp: (id, index) => `offer-signer events replay --endpoint ${id} --from-index ${index}`,
};

const command = (text) => element("p", null, element("code", null, value(text)));

function stateCell({ state, reason, disabledAt }) {
  return [
    badge(own(states, state) ?? "neutral", state),
    disabledAt && [" since ", instant(disabledAt)],
    reason && element("div", null, value(reason)),
  ];
}

function receivers({ endpoints }) {
  const last = ({ lastDeliveredAt: at }) => (at ? [instant(at), " ", element("span", { class: "hint" }, ago(at))] : "never");
  return table(
    "Receivers of events",
    [
      { title: "Receiver" }, { title: "Gets" }, { title: "Where" }, { title: "State" }, { title: "Next entry" },
      { title: "Behind", number: true }, { title: "Delivered", number: true }, { title: "Last delivery" },
    ],
    endpoints.map((endpoint) => [
      value(endpoint.id),
      [name(kinds, endpoint.kind), endpoint.format && element("div", { class: "hint" }, name(formats, endpoint.format))],
      value(endpoint.target),
      stateCell(endpoint),
      endpoint.nextIndex === undefined ? "–" : entryOrEnd(endpoint),
      endpoint.backlog === undefined ? "–" : grouped(endpoint.backlog),
      grouped(endpoint.delivered),
      last(endpoint),
    ]),
    { class: "cards" },
  );
}

/** The entry that comes next may not be there yet. */
const entryOrEnd = ({ nextIndex, backlog }) => (backlog > 0 ? entryLink(nextIndex) : `#${nextIndex}`);

function next({ nextAttemptAt, givenUpAt }) {
  if (givenUpAt) return [badge("bad", "given up"), " ", instant(givenUpAt)];
  return nextAttemptAt ? instant(nextAttemptAt) : "after an earlier one";
}

function notTaken({ endpoints }) {
  const rows = endpoints.flatMap((endpoint) => endpoint.deliveries.map((delivery) => ({ endpoint, delivery })));
  if (rows.length === 0) return paragraph("Every receiver has taken what it was sent.");
  const hidden = endpoints.filter(({ open, givenUp, deliveries }) => open + givenUp > deliveries.length);
  return [
    hidden.map(({ id, open, givenUp, deliveries }) =>
      paragraph(value(id), `: ${deliveries.length} of ${grouped(open + givenUp)} are shown.`)),
    table(
      "Not taken",
      [
        { title: "Receiver" }, { title: "Entry" }, { title: "Attempts", number: true }, { title: "Last error" },
        { title: "Next attempt" },
      ],
      rows.map(({ endpoint, delivery }) => [
        value(endpoint.id),
        entryLink(delivery.index),
        grouped(delivery.attempts),
        delivery.failure ? value(delivery.failure) : "–",
        next(delivery),
      ]),
      { class: "cards" },
    ),
  ];
}

/** What to do about each receiver that gets nothing, or for which something was given up. */
function advice({ endpoints }, session) {
  return endpoints.map((endpoint) => {
    const { id, state, givenUp, kind } = endpoint;
    const lost = givenUp > 0 && kind !== "relay";
    const first = Math.min(...endpoint.deliveries.filter(({ givenUpAt }) => givenUpAt).map(({ index }) => index));
    const asks = [own(commands, state)?.(id), lost && Number.isFinite(first) && commands.givenUp(id, first)].filter(Boolean);
    if (asks.length === 0) return null;
    return notice(
      state === "disabled" || lost ? "bad" : "warn",
      [value(id), lost ? `: ${grouped(givenUp)} given up` : state === "disabled" ? " gets no events" : " is not sent anything now"],
      paragraph(session.role === "admin" ? "Once its receiver works again, run on the service's machine:" : "An administrator can run:"),
      asks.map(command),
    );
  });
}

export function events(body, { session, signal }) {
  const found = getJSON("v1/events/endpoints", null, signal);
  found.catch(() => {});
  body.append(
    panel("Receivers", "receivers", async () => {
      const answer = await found;
      if (answer.endpoints.length === 0) {
        return paragraph("No receiver is set up. Name receivers in a file, and start the service with --events.");
      }
      return [advice(answer, session), receivers(answer)];
    }, signal),
    panel("Not taken", "not-taken", async () => notTaken(await found), signal),
  );
}
