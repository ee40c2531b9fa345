// SPDX-License-Identifier: Apache-2.0
// What subscribers did who were shown an offer, a product or a message before they canceled.

import { grouped } from "./chart.js";
import { paragraph, table, value } from "./elements.js";

const names = { alternateProduct: "another product", message: "a message" };

/** What was shown, taken, kept and canceled, for each offer and for answers without one. */
export function retention({ retention: answers }) {
  if (!answers?.length) return paragraph("The App Store asked for no retention message in this time.");
  return table(
    "Retention by offer",
    ["Shown", "Redeemed", "Kept", "Canceled"].reduce((columns, title) => [...columns, { title, number: true }], [{ title: "Offer" }]),
    answers.map(({ answer, rule, shown, redeemed, kept, canceled }) => [
      value(rule ?? names[answer] ?? answer),
      grouped(shown),
      rule ? grouped(redeemed) : "–",
      grouped(kept),
      grouped(canceled),
    ]),
    { class: "cards" },
  );
}
