// Small helps for the pages; every page works without it.
(() => {
  "use strict";
  const root = document.documentElement;
  const find = (selector, within = document) => within.querySelector(selector);

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy], [data-copy-from]");
    if (!button) return;
    const source = document.getElementById(button.dataset.copy);
    const text = source ? source.value ?? source.textContent : await (await fetch(button.dataset.copyFrom)).text();
    await navigator.clipboard.writeText(text.trim());
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1600);
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-print]")) window.print();
  });

  // A form with data-undo waits ten seconds before it is sent, and can be taken back meanwhile. It is sent at once when
  // the page is left or another one is sent. With data-undo-hides the part around it disappears, and the page stays.
  let waiting = null;
  const part = (form) => form.dataset.undoHides && form.closest(form.dataset.undoHides);
  // The numbers that count what disappears: data-counts of the form names the data-count of each.
  const recount = (form, by) => (form.dataset.counts ?? "").split(",").filter(Boolean).forEach((name) => {
    document.querySelectorAll(`[data-count="${CSS.escape(name)}"]`).forEach((each) => {
      each.textContent = each.textContent.replace(/\d+/, (number) => String(Math.max(0, Number(number) + by)));
    });
  });
  const sendInBackground = async (form) => {
    const hidden = part(form);
    const body = new URLSearchParams(new FormData(form));
    try {
      const answer = await fetch(form.action, { method: "POST", body, keepalive: true, redirect: "manual" });
      if (answer.type === "opaqueredirect" || answer.ok) return;
    } catch { /* the network is away */ }
    if (hidden) hidden.hidden = false;
    recount(form, 1);
    tell("This did not work. Try again.");
  };
  const finish = (inBackground) => {
    const { form, note, timer } = waiting;
    waiting = null;
    clearTimeout(timer);
    note.remove();
    if (form.elements.sure) form.elements.sure.value = "yes";
    if (inBackground || part(form)) { sendInBackground(form); return; }
    form.dataset.sent = "1";
    form.requestSubmit();
  };
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.dataset.undo || form.dataset.sent) return;
    event.preventDefault();
    if (waiting?.form === form) return;
    if (waiting) finish(true);
    const note = document.createElement("div");
    note.className = "undo";
    const text = document.createElement("span");
    text.setAttribute("role", "status");
    const undo = document.createElement("button");
    undo.type = "button";
    undo.textContent = "Undo";
    note.append(text, undo);
    document.body.append(note);
    text.textContent = `${form.dataset.undo}.`;
    let seconds = 10;
    const left = document.createElement("span");
    left.setAttribute("aria-hidden", "true");
    left.textContent = "10 s";
    note.append(left);
    const clock = setInterval(() => {
      seconds -= 1;
      if (note.isConnected && seconds > 0) left.textContent = `${seconds} s`;
      else clearInterval(clock);
    }, 1000);
    if (part(form)) part(form).hidden = true;
    recount(form, -1);
    undo.focus();
    waiting = { form, note, timer: setTimeout(() => finish(false), 10000) };
    undo.addEventListener("click", () => {
      clearTimeout(waiting.timer);
      note.remove();
      waiting = null;
      if (part(form)) part(form).hidden = false;
      recount(form, 1);
      event.submitter?.focus();
      tell("Kept.", 4000);
    });
  });
  addEventListener("pagehide", () => { if (waiting) finish(true); });

  // A button that ticks all boxes of its form, and a file whose text goes into a field.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-tick-all]");
    if (!button) return;
    button.closest("form").querySelectorAll("input[type=checkbox]").forEach((box) => { box.checked = true; });
  });
  document.addEventListener("change", async (event) => {
    const source = event.target.closest("[data-file-to]");
    if (source?.files[0]) document.getElementById(source.dataset.fileTo).value = await source.files[0].text();
  });

  // The sign-in page, which an ended session leads to, replaces no part of this one.
  const tell = (text, milliseconds = 10000) => {
    const note = document.createElement("div");
    note.className = "undo";
    note.setAttribute("role", "status");
    note.append(text);
    document.body.append(note);
    setTimeout(() => note.remove(), milliseconds);
  };
  document.addEventListener("htmx:beforeSwap", (event) => {
    const address = event.detail.xhr.responseURL;
    if (!address || !new URL(address).pathname.endsWith("/sign-in")) return;
    event.detail.shouldSwap = false;
    tell("You are signed out. Sign in again in another tab, then go on here.");
  });

  // What is typed while a form with data-keep-typing is fetched anew stays in it.
  let typed = null;
  const fields = () => document.querySelectorAll("[data-keep-typing] :is(input:not([type=radio]), textarea, select)[id]");
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.target.matches("[data-keep-typing]")) typed = new Map([...fields()].map((field) => [field.id, field.value]));
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!typed || !event.detail.target.matches("[data-keep-typing]")) return;
    const changed = [...fields()].filter((field) => typed.has(field.id) && typed.get(field.id) !== field.value)
      .map((field) => [field.id, field.value]);
    typed = null;
    document.addEventListener("htmx:afterSwap", () => changed.forEach(([id, value]) => {
      const field = document.getElementById(id);
      if (field) field.value = value;
    }), { once: true });
    // What waited for a pause in the typing went with the old form.
    document.addEventListener("htmx:afterSettle", () => changed.map(([id]) => document.getElementById(id))
      .find((field) => field?.matches(".live"))?.dispatchEvent(new Event("input", { bubbles: true })), { once: true });
  });

  // What was fetched says by data-focus where to go on, once.
  document.addEventListener("htmx:afterSettle", () => {
    const next = find("[data-focus]");
    if (!next) return;
    delete next.dataset.focus;
    next.focus({ preventScroll: true });
    (find("[data-answer]") ?? next).scrollIntoView({ block: "nearest" });
  });

  // ⌘K or Ctrl K searches everything; arrows choose, Enter opens.
  const dialog = find("#go-to");
  if (dialog) {
    const box = find("[data-go-to]", dialog);
    const open = () => { box.value = ""; dialog.showModal(); box.focus(); htmx.trigger(box.form, "show"); };
    document.addEventListener("keydown", (event) => {
      if ((event.metaKey || event.ctrlKey) && event.key === "k") { event.preventDefault(); if (!dialog.open) open(); }
    });
    document.addEventListener("click", (event) => {
      if (event.target.closest("[data-go-to-open]") && !event.ctrlKey && !event.metaKey) { event.preventDefault(); open(); }
      if (event.target === dialog) dialog.close();
    });
    dialog.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { event.preventDefault(); dialog.close(); return; }
      const stops = [box, ...dialog.querySelectorAll("#go-to-list a")];
      const at = stops.indexOf(document.activeElement);
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) { event.preventDefault(); stops[(at + step + stops.length) % stops.length].focus(); }
      if (event.key === "Enter" && at === 0 && stops.length > 1) { event.preventDefault(); stops[1].click(); }
    });
  }

  // A form or link that takes over a second says that it works.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    setTimeout(() => { if (!event.defaultPrevented) form.setAttribute("aria-busy", "true"); }, 400);
  });
  window.addEventListener("pageshow", () => document.querySelectorAll("form[aria-busy]").forEach((form) => form.removeAttribute("aria-busy")));
  document.addEventListener("htmx:beforeRequest", (event) => event.detail.target.setAttribute("aria-busy", "true"));
  document.addEventListener("htmx:afterRequest", (event) => event.detail.target.removeAttribute("aria-busy"));
  root.classList.add("scripted");
})();
