// The pages of the directory; each works without it.
(() => {
  "use strict";
  const find = (selector) => document.querySelector(selector);

  // Of a filter with one value, choosing another drops the first.
  document.addEventListener("change", (event) => {
    const box = event.target;
    if (box.matches?.("#query, #show-filters")) event.stopPropagation(); // they ask for nothing new
    if (!box.matches?.("[data-single]") || !box.checked) return;
    document.querySelectorAll(`[data-single][name="${box.name}"]`).forEach((other) => { other.checked = other === box; });
  }, true);

  // What was folded or unfolded stays so when the results are fetched anew.
  let folds = new Map();
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target.id !== "found") return;
    folds = new Map([...document.querySelectorAll("#found details[id]")].map((one) => [one.id, one.open]));
  });
  document.addEventListener("htmx:afterSwap", () => {
    folds.forEach((open, id) => { const one = document.getElementById(id); if (one) one.open = open; });
    folds = new Map();
  });
  document.addEventListener("htmx:responseError", (event) => {
    const count = find("#count");
    if (count && event.detail.xhr.status === 429) count.textContent = "A moment, please: too many searches at once.";
  });

  // A key without a modifier follows the link of that key, unless something is typed.
  document.addEventListener("keydown", (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
    document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`)?.click();
  });
})();
