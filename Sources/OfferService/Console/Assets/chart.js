// SPDX-License-Identifier: Apache-2.0
// How often each key was used, over time: one row of bars for each key, all on one scale.

import { element, plain, svg, table, value } from "./elements.js";
import { day, formatted, shortDay } from "./times.js";

// On the right there is room for half of the last day's name.
const [rowHeight, left, right, top, bottom] = [116, 44, 18, 40, 22];

/** A whole number, with a thin gap after each three digits. */
export const grouped = (number) => Number(number).toLocaleString("en-GB");

/** The least of 2, 4, 6, 8, 10, 20, 40, 60 … that is not below the number, so that its half is whole. */
function niceMaximum(number) {
  for (let scale = 1; ; scale *= 10) {
    for (const factor of [2, 4, 6, 8, 10]) if (factor * scale >= number) return factor * scale;
  }
}

/** The buckets between two instants, each with what a key has in it. */
export function buckets(counts, from, until, step) {
  const known = new Map(counts.map(({ at, count }) => [Math.floor(Date.parse(at) / step) * step, count]));
  const filled = [];
  for (let at = Math.floor(from / step) * step; at < until; at += step) filled.push({ at, count: known.get(at) ?? 0 });
  return filled;
}

const bucketName = (at, step) => (step >= day ? shortDay(at) : `${shortDay(at)} ${formatted(at).slice(11, 16)}`);
const tickName = (at, step) => (step >= day ? shortDay(at).slice(0, -4) : formatted(at).slice(11, 16));

function axis(width, maximum, y) {
  return [0, maximum / 2, maximum].map((tick) => {
    const at = y(tick);
    return [
      svg("line", { class: tick === 0 ? "base" : "grid", x1: left, x2: width - right, y1: at, y2: at }),
      svg("text", { class: "tick", x: left - 6, y: at + 4, "text-anchor": "end" }, grouped(tick)),
    ];
  });
}

function bar(key, bucket, place, geometry) {
  const { slot, y, step, link } = geometry;
  const x = left + place * slot;
  const height = bucket.count === 0 ? 0 : Math.max(2, y(0) - y(bucket.count));
  const label = `${plain(key)}, ${bucketName(bucket.at, step)}: ${grouped(bucket.count)} ${bucket.count === 1 ? "use" : "uses"}`;
  return svg(
    "a",
    { href: link(key, bucket), "aria-label": label, tabindex: "-1" },
    svg("title", null, label),
    svg("rect", { class: "target", x, y: y.top, width: slot, height: y(0) - y.top }),
    svg("rect", { class: "bar", x: x + slot * 0.14, y: y(0) - height, width: slot * 0.72, height }),
    bucket.count > 0 && slot >= 26 && svg(
      "text",
      { class: "count", x: x + slot / 2, y: y(0) - height - 4, "text-anchor": "middle" },
      grouped(bucket.count),
    ),
  );
}

/** Arrow keys go from bar to bar; the row is one stop for the Tab key. */
function walkable(row) {
  const bars = [...row.querySelectorAll("a")];
  bars.at(-1)?.setAttribute("tabindex", "0");
  row.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const place = bars.indexOf(document.activeElement);
    const next = bars[Math.min(Math.max(place + moves[event.key], 0), bars.length - 1)];
    bars[place]?.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
  return row;
}

function chartRow(series, geometry, width) {
  const { step, maximum, slot, isLast } = geometry;
  const height = rowHeight + (isLast ? bottom : 6);
  const y = (count) => top + (rowHeight - top) * (1 - count / maximum);
  y.top = top;
  const every = Math.ceil((step >= day ? 46 : 40) / slot);
  const total = series.buckets.reduce((sum, { count }) => sum + count, 0);
  return svg(
    "svg",
    { class: "usage", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": `Uses of key ${series.key}` },
    svg(
      "text",
      { class: "name", x: 0, y: 14 },
      series.key,
      svg("tspan", { class: "tick", dx: 8 }, `${grouped(total)} ${total === 1 ? "use" : "uses"}`),
    ),
    axis(width, maximum, y),
    series.buckets.map((bucket, place) => bar(series.key, bucket, place, { ...geometry, y })),
    isLast && series.buckets.map(({ at }, place) =>
      (series.buckets.length - 1 - place) % every === 0 && svg(
        "text",
        { class: "tick", x: left + (place + 0.5) * slot, y: rowHeight + 16, "text-anchor": "middle" },
        tickName(at, step),
      ),
    ),
  );
}

function asTable(series, step) {
  const columns = [{ title: step >= day ? "Day (UTC)" : "Hour (UTC)" }, ...series.map(({ key }) => ({ title: key, number: true }))];
  const rows = (series[0]?.buckets ?? []).map(({ at }, place) => [
    bucketName(at, step),
    ...series.map(({ buckets }) => grouped(buckets[place].count)),
  ]);
  return element(
    "details",
    null,
    element("summary", null, "The same as a table"),
    element(
      "div",
      { class: "scrolling", tabindex: "0", role: "region", "aria-label": "Uses of each key as a table" },
      table("Uses of each key", columns, rows),
    ),
  );
}

/**
 * A figure of how often keys were used; `keys` as /v1/audit/summary has them, `link` gives the address of a bar.
 *
 * It is drawn again when its width changes, so that its text keeps its size.
 */
export function usageChart({ keys, from, until, step, link }) {
  const series = keys.map(({ key, counts }) => ({ key, buckets: buckets(counts, from, until, step) }));
  const maximum = niceMaximum(Math.max(1, ...series.flatMap(({ buckets }) => buckets.map(({ count }) => count))));
  const drawing = element("div", { class: "drawing" });
  let drawn = 0;
  const draw = () => {
    const width = Math.max(280, Math.floor(drawing.clientWidth));
    if (width === drawn) return;
    drawn = width;
    const slot = (width - left - right) / Math.max(1, series[0]?.buckets.length ?? 1);
    drawing.replaceChildren(
      ...series.map((one, place) =>
        walkable(chartRow(one, { step, maximum, slot, link, isLast: place === series.length - 1 }, width)),
      ),
    );
  };
  new ResizeObserver(draw).observe(drawing);
  return element(
    "figure",
    { class: "chart" },
    element(
      "figcaption",
      null,
      `Uses per ${step >= day ? "day" : "hour"} (UTC), one row for each key, all rows on one scale. `,
      "Choose a bar to see its entries; with the keyboard, arrows go from bar to bar.",
    ),
    drawing,
    asTable(series, step),
  );
}

/** Parts of a whole as a bar; the numbers stand beside it in the table, so it is an ornament. */
export function share(parts) {
  const whole = parts.reduce((sum, part) => sum + part.count, 0) || 1;
  let x = 0;
  return svg(
    "svg",
    { class: "share", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    parts.map(({ kind, count }) => {
      const width = (count / whole) * 100;
      x += width;
      return svg("rect", { class: kind, x: x - width, y: 0, width, height: 8 });
    }),
  );
}

export const keyName = (key) => value(key, "value mono");
