// SPDX-License-Identifier: Apache-2.0
// Searches that a person keeps in this browser, by name; the address of a page is one too.

import { announce, element, field, replace, value } from "./elements.js";
import { changed, entriesLink } from "./query.js";

const stored = "offer-signer.searches";

function savedSearches() {
  try {
    const found = JSON.parse(localStorage.getItem(stored) ?? "[]");
    return found.filter(({ name, query }) => typeof name === "string" && typeof query === "string");
  } catch {
    return [];
  }
}

function keep(searches) {
  if (searches.length === 0) localStorage.removeItem(stored);
  else localStorage.setItem(stored, JSON.stringify(searches));
}

/** The searches that were saved, and a way to save the one that is shown. */
export function savedPanel(query) {
  const list = element("ul", { class: "conditions", "aria-label": "Saved searches" });
  const show = () => {
    const searches = savedSearches();
    list.hidden = searches.length === 0;
    const forget = (name) => {
      keep(savedSearches().filter((search) => search.name !== name));
      announce("The search is forgotten");
      show();
    };
    replace(list, searches.map(({ name, query }) =>
      element("li", null,
        element("a", { class: "saved", href: entriesLink(Object.fromEntries(new URLSearchParams(query))) }, value(name)), " ",
        element("button", { type: "button", class: "quiet", click: () => forget(name), "aria-label": `Forget: ${name}` }, "✕"))));
  };
  const name = element("input", { id: "search-name", required: true, maxlength: "60", autocomplete: "off" });
  const save = (event) => {
    event.preventDefault();
    const text = name.value.trim();
    if (!text) return;
    // Without the page: a saved search begins at its first one.
    const conditions = changed(query, {}).split("?")[1] ?? "";
    keep([...savedSearches().filter((search) => search.name !== text), { name: text, query: conditions }]);
    name.value = "";
    announce("The search is saved in this browser");
    show();
  };
  show();
  return [
    list,
    [...query.keys()].length > 0 && element(
      "details",
      { class: "save" },
      element("summary", null, "Save this search"),
      element(
        "form",
        { submit: save, class: "inline", "aria-label": "Save this search" },
        field("Name of the search", name),
        element("button", { type: "submit" }, "Save in this browser"),
      ),
    ),
  ];
}
