// SPDX-License-Identifier: Apache-2.0
// Instants in UTC, as the log has them, so that two auditors in two places read the same; and in local time beside it.

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

/** What a person typed as a time, for an address: the service reads days and spans like -24h by itself. */
export function typedTime(text) {
  const match = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(:\d\d)?$/.exec(text);
  return match ? `${match[1]}T${match[2]}${match[3] ?? ":00"}Z` : text;
}

/** The same instant where the reader is, as in "Tue 15:03:22 GMT+1"; null where that is UTC too. */
export function localTime(instant) {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime()) || date.getTimezoneOffset() === 0) return null;
  return date.toLocaleString("en-GB", {
    weekday: "short", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
  }).replace(",", "");
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

/** Spans that are often asked for; a relative one means the same whenever it is asked. */
export function presets(now = Date.now()) {
  const until = startOfDay(now) + day;
  const span = (name, count) => ({ name, from: until - count * day, until });
  return [
    { name: "Last hour", relative: "-1h" },
    { name: "Last 24 hours", relative: "-24h" },
    span("Last 7 days", 7),
    span("Last 30 days", 30),
    span("Last 90 days", 90),
  ];
}
