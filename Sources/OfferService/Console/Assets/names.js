// SPDX-License-Identifier: Apache-2.0
// What keys, callers, apps and offers are called, to suggest while a person types, and after a slip.

import { element } from "./elements.js";
import { getJSON } from "./service.js";
import { events, findings } from "./words.js";

const readings = new WeakMap();

/** The names that the service knows, asked for once in a session; without any if they can't be had. */
export function knownNames(session) {
  if (!readings.has(session)) {
    const reading = getJSON("v1/audit/names").catch(() => {
      readings.delete(session);
      return {};
    });
    readings.set(session, reading);
  }
  return readings.get(session);
}

/** Lists for `list` attributes, by the conditions they are for; filled once the names are there. */
export function suggestions(session, fields) {
  const option = (name, label) => element("option", { value: name, label: label ?? null });
  return fields.map((field) => {
    const list = element("datalist", { id: `names-${field}` });
    const words = { event: events, reason: findings }[field];
    if (words) list.append(...Object.entries(words).map(([name, word]) => option(name, word)));
    else void knownNames(session).then((names) => list.append(...(names[field] ?? []).map((name) => option(name))));
    return list;
  });
}

/** How many letters have to be changed, added or taken away. */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let first = 1; first <= one.length; first += 1) {
    const next = [first];
    for (let second = 1; second <= other.length; second += 1) {
      const change = row[second - 1] + (one[first - 1] === other[second - 1] ? 0 : 1);
      next.push(Math.min(change, row[second] + 1, next[second - 1] + 1));
    }
    row = next;
  }
  return row[other.length];
}

/** The known name that the person probably meant; null if none is like it. */
export function nearest(text, names) {
  const wanted = text.toLowerCase();
  const near = names
    .map((name) => ({ name, far: name.toLowerCase().includes(wanted) ? 1 : distance(wanted, name.toLowerCase()) }))
    .filter(({ name, far }) => far <= Math.max(2, Math.floor(Math.min(name.length, 24) / 4)))
    .sort((one, other) => one.far - other.far);
  return near[0]?.name ?? null;
}
