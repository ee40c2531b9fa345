// SPDX-License-Identifier: Apache-2.0
// Instants in UTC, as the log has them, so that two auditors in two places read the same.

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
export const hour = 3_600_000;
export const day = 24 * hour;

export const startOfDay = (instant) => Math.floor(instant / day) * day;
export const weekday = (instant) => days[new Date(instant).getUTCDay()];

/** As in "Tue 17 Nov". */
export function shortDay(instant) {
  const date = new Date(instant);
  return `${weekday(instant).slice(0, 3)} ${date.getUTCDate()} ${months[date.getUTCMonth()]}`;
}

/** As in "2026-11-17 14:03:22.123". */
export function formatted(instant) {
  const date = new Date(instant);
  return Number.isNaN(date.getTime()) ? String(instant) : date.toISOString().replace("T", " ").replace("Z", "");
}

/** For an address, and for a call. */
export const rfc3339 = (instant) => new Date(instant).toISOString();

/** What an `input` of type `datetime-local` has, taken as UTC; null unless it is a time. */
export function fromInput(text) {
  const instant = text ? Date.parse(`${text}Z`) : NaN;
  return Number.isNaN(instant) ? null : instant;
}

export function toInput(text) {
  const instant = Date.parse(text ?? "");
  return Number.isNaN(instant) ? "" : new Date(instant).toISOString().slice(0, 19);
}

/** How long ago, in the largest fitting unit. */
export function ago(instant, now = Date.now()) {
  const seconds = Math.round((now - new Date(instant).getTime()) / 1000);
  if (Number.isNaN(seconds)) return "";
  if (seconds < -60) return "in the future";
  for (const [unit, size] of [["day", 86_400], ["hour", 3600], ["minute", 60]]) {
    const count = Math.floor(seconds / size);
    if (count >= 1) return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
  }
  return seconds <= 1 ? "just now" : `${seconds} seconds ago`;
}

/** Today, and each of the seven days before it, newest first, by the names that people call them. */
export function recentDays(now = Date.now()) {
  const today = startOfDay(now);
  return Array.from({ length: 8 }, (_, back) => {
    const from = today - back * day;
    const name = back === 0 ? "today" : back === 1 ? "yesterday" : `last ${weekday(from)}`;
    return { from, until: from + day, name, title: shortDay(from) };
  });
}

/** Spans that are often asked for. */
export function presets(now = Date.now()) {
  const until = startOfDay(now) + day;
  const span = (name, count) => ({ name, from: until - count * day, until });
  return [
    { name: "Last hour", from: now - hour, until: null },
    { name: "Last 24 hours", from: now - day, until: null },
    span("Last 7 days", 7),
    span("Last 30 days", 30),
    span("Last 90 days", 90),
  ];
}
