// The pages of a call. Hears by the browser or the server, shows cards and lines, and comes back when the network drops.
(() => {
  "use strict";
  const find = (selector, within = document) => within.querySelector(selector);
  const { hasMicrophone, hearsHere, microphoneProblem, nextId, NO_MICROPHONE } = live;

  const setup = find("#live-setup");
  if (setup) {
    const words = find("#who-hears"), note = find("#no-microphone"), language = setup.elements.language;
    const fit = async () => {
      for (const one of setup.querySelectorAll("[data-notice]")) one.hidden = one.dataset.notice !== language.value;
      find("#copy-notice").dataset.copy = `notice-${language.value}`;
      find("#consent").hidden = setup.elements.basis.value !== "all_parties";
      const here = await hearsHere(language.value);
      setup.elements.local.value = here ? "on" : "";
      if (here) words.textContent = "Your browser hears, on this device; no sound leaves it.";
      else if (words.dataset.server) words.textContent = words.dataset.server;
      const none = hasMicrophone() ? (here || words.dataset.server ? "" : "Neither this browser nor this server recognises speech. Typing works.") : NO_MICROPHONE;
      note.textContent = none;
      note.hidden = !none || setup.elements.hears.value !== "microphone";
    };
    setup.addEventListener("change", fit);
    fit();
  }

  const call = find("#call");
  if (!call) return;
  const { place, them, hears } = call.dataset;
  const gaps = JSON.parse(call.dataset.gaps);
  const ownOnly = Boolean(call.dataset.ownOnly);
  const nameOf = (speaker) => (speaker === "me" ? "You" : them);
  const ui = Object.fromEntries(["first", "second", "idle", "lines", "state", "latency", "problem", "line", "pause", "mute", "swap", "listen", "share", "keys", "words"]
    .map((id) => [id, find(`#${id}`)]));

  /* What the page knows. `after` is the number of the last event that it has shown. */
  let after = Number(call.dataset.after);
  let paused = call.dataset.state === "paused";
  let listening = false, muted = false, over = false;
  let speaker = ownOnly ? "me" : "them";
  const unheard = new Map();
  const sentAt = new Map();

  const post = (path, members) => live.post(`${place}/${path}`, call.dataset.csrf, members);
  let ofNetwork = false;
  const complain = (text, network = false) => { ofNetwork = network; ui.problem.textContent = text; ui.problem.hidden = !text; };
  const showState = () => {
    const [text, on] = !link.ready ? [link.lost ? "Reconnecting…" : "Connecting…", false] : paused ? ["Paused", false] : hears === "typing" ? ["Typing", true]
      : !listening ? ["Not started", false] : muted ? ["Muted", false] : ["Listening", true];
    if (ui.state.textContent !== text) ui.state.textContent = text;
    ui.state.classList.toggle("on", on);
    ui.state.classList.toggle("bad", text === "Reconnecting…");
    ui.pause.firstChild.textContent = paused ? "Go on " : "Pause ";
    ui.pause.value = paused ? "resume" : "pause";
  };

  /* Cards: those of limits first, then the newest; one large, one small. A card past its time stays, faded, until another comes or it is judged; an older one never comes back. */
  const cards = new Map();
  const template = find("#card-template").content.firstElementChild;
  const isLimit = (card) => card.dataset.family.startsWith("figure:");
  const arrange = () => {
    const now = Date.now(), all = [...cards.values()].reverse();
    const fresh = all.filter((card) => card.until > now).sort((one, other) => isLimit(other) - isLimit(one));
    const shown = fresh.length ? fresh : all.filter((card) => card.parentElement === ui.first);
    [ui.first, ui.second].forEach((slot, number) => {
      const card = shown[number];
      if (card && card.parentElement !== slot) slot.replaceChildren(card);
      if (!card && slot.firstElementChild) slot.replaceChildren();
      card?.classList.toggle("stale", card.until <= now);
    });
    for (const card of all) if (card.until <= now && !shown.includes(card)) cards.delete(card.dataset.cue);
    ui.idle.hidden = shown.length > 0 && (hears === "typing" || listening);
    if (shown[0] && shown[0] !== fitted) fit();
  };
  /* The largest type with which the card and its buttons stand above the line to type in. */
  let fitted = null;
  const fit = () => {
    const card = find(".cue", ui.first);
    fitted = card;
    if (!card) return;
    const room = window.innerHeight - ui.words.offsetHeight;
    for (let size = 0; size <= 5; size++) {
      card.dataset.size = size;
      if (card.getBoundingClientRect().bottom + window.scrollY <= room) return;
    }
  };
  window.addEventListener("resize", fit);
  const fill = (card, cue) => {
    card.dataset.cue = cue.id;
    card.dataset.family = cue.family;
    find("[data-title]", card).textContent = cue.count > 1 ? `${cue.title} (${cue.count} times)` : cue.title;
    find("[data-say]", card).textContent = cue.say;
    find("[data-why]", card).textContent = cue.why;
    find("[data-quote]", card).textContent = cue.evidence.quote;
    find(".quote", card).hidden = !cue.evidence.quote;
    find("input[name=cue]", card).value = cue.id;
    card.until = Date.now() + cue.ttl_ms;
    if (card === fitted) fitted = null;
  };
  const showCard = (cue) => {
    const card = cards.get(cue.id) || template.cloneNode(true);
    fill(card, cue);
    cards.set(cue.id, card);
    arrange();
  };
  const dropCard = (id) => { cards.get(id)?.remove(); cards.delete(id); arrange(); };
  /* With a judged card go those that were raised before it: by then they are out of place. */
  const dropJudged = (id) => {
    if (!cards.has(id)) return;
    for (const [one, card] of [...cards]) { card.remove(); cards.delete(one); if (one === id) break; }
    arrange();
  };
  for (const card of call.querySelectorAll(".cards .cue")) {
    card.until = Date.now() + Number(card.dataset.left);
    cards.set(card.dataset.cue, card);
  }
  setInterval(arrange, 1000);
  const judge = async (id, action) => {
    const typed = document.activeElement;
    dropJudged(id);
    if (hears === "typing" && !call.contains(typed)) ui.line.focus();
    try { await post("cards", { cue: id, action }); } catch (problem) { complain(problem.message); }
  };

  /* The transcript. A line that grows has the id of its utterance until it is final. */
  const lineOf = (utterance) => [...ui.lines.children].find((one) => one.dataset.utterance === utterance);
  const showLine = (utterance, who, text, kind) => {
    let line = utterance ? lineOf(utterance) : undefined;
    if (line?.dataset.seq && kind) return line;
    const low = ui.lines.scrollHeight - ui.lines.scrollTop - ui.lines.clientHeight < 60;
    if (!line) {
      line = document.createElement("li");
      if (utterance) line.dataset.utterance = utterance;
      if (who) { const name = document.createElement("span"); name.className = "who"; name.textContent = nameOf(who); line.append(name, " "); }
      const words = document.createElement("span");
      words.dataset.text = "";
      line.append(words);
      ui.lines.append(line);
    }
    line.className = `line ${who || "gap"} ${kind}`;
    find("[data-text]", line).textContent = text;
    if (low) ui.lines.scrollTop = ui.lines.scrollHeight;
    return line;
  };
  ui.lines.scrollTop = ui.lines.scrollHeight;

  /* Latency in small type: of the network, and from the end of what was said to its words or card. */
  const timings = {};
  const showLatency = (name, value) => {
    timings[name] = value;
    ui.latency.textContent = Object.entries(timings).filter(([, text]) => text).map(([what, text]) => `${what} ${text}`).join(" · ");
  };
  const seconds = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

  const happened = (event) => {
    if (event.seq <= after) return;
    after = event.seq;
    switch (event.type) {
      case "transcript.final": {
        const known = lineOf(event.utterance_id);
        if (known && !known.dataset.seq) known.remove();
        showLine(event.utterance_id, event.speaker, event.text ?? "(not kept)", "").dataset.seq = event.seq;
        unheard.delete(event.utterance_id);
        const sent = sentAt.get(event.utterance_id), heard = audio.position(event.speaker);
        showLatency("Recognition behind by", "");
        if (sent) showLatency("Words after", seconds(performance.now() - sent));
        else if (heard && event.end_ms !== null) showLatency("Words after", seconds(Math.max(0, heard - event.end_ms)));
        break;
      }
      case "cue": case "cue.update": {
        showCard(event.cue);
        const sent = sentAt.get(event.cue.evidence.utterance_id);
        if (sent) showLatency("Card after", seconds(performance.now() - sent));
        break;
      }
      case "cue.retract": dropCard(event.id); break;
      case "cue.feedback": dropJudged(event.id); break;
      case "offer": document.body.dispatchEvent(new CustomEvent("figures")); break;
      case "notice":
        if (event.code === "paused" || event.code === "resumed") { paused = event.code === "paused"; showState(); hearAgain(); }
        if (event.detail?.fatal) complain(event.detail.description);
        if (gaps[event.code]) showLine("", "", gaps[event.code], "").dataset.seq = event.seq;
        break;
      case "ended": over = true; stopHearing(); link.close(); location.assign(place); break;
    }
  };

  /* The socket of the call. */
  const link = live.link({
    address: `${location.origin.replace(/^http/, "ws")}${call.dataset.socket}`,
    ticket: async () => (await (await post("ticket")).json()).ticket,
    start: () => ({ channels: channels().map((id) => ({ id })), after }),
    take: (message) => take(message),
    changed: () => showState(),
    failed: (text) => complain(text, true),
    replaced: () => { stopHearing(); complain("Another window hears this call now. Reload this page to hear it here."); },
    pong: (ms) => showLatency("Network", seconds(ms)),
  });
  const send = link.send;
  const take = (message) => {
    if ("at" in message && "seq" in message) { happened(message); return; }
    switch (message.type) {
      case "ready":
        if (ofNetwork) complain("");
        audio.begin(message.audio_ms);
        for (const said of unheard.values()) send(said);
        showState();
        hearAgain();
        break;
      case "ack": if (message.of === "text") unheard.delete(message.utterance_id); break;
      case "transcript.partial":
        if (message.text) showLine(message.utterance_id, message.speaker, message.text, "partial");
        else if (!lineOf(message.utterance_id)?.dataset.seq) lineOf(message.utterance_id)?.remove();
        break;
      case "lag": showLatency("Recognition behind by", message.behind_ms > 500 ? seconds(message.behind_ms) : ""); break;
      case "error": refused(message); break;
    }
  };
  const refused = (error) => {
    if (error.code === "rate_limited") {
      setTimeout(() => unheard.forEach(send), 1000 * (error.retry_after || 1));
    } else {
      if (error.utterance_id) { unheard.delete(error.utterance_id); lineOf(error.utterance_id)?.remove(); }
      complain(error.description);
    }
  };

  /* What is said as text is sent until it is acknowledged; a final counts once, however often it comes. */
  const say = (who, text, utterance = nextId("t")) => {
    const message = { type: "text", utterance_id: utterance, speaker: who, text: text.slice(0, 2000), final: true };
    unheard.set(utterance, message);
    sentAt.set(utterance, performance.now());
    showLine(utterance, who, text, "waiting");
    send(message);
  };
  ui.words.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = ui.line.value.trim();
    if (!text) return;
    if (paused) { complain("The call is paused; go on first."); return; }
    complain("");
    say(event.submitter?.value || speaker, text);
    ui.line.value = "";
    ui.line.focus();
  });

  /* Sound to the server: both sides have a channel; the one that does not speak gets silence. */
  const channels = () => (hears !== "server" || !listening ? [] : ownOnly ? ["me"] : ["me", "them"]);
  const audio = live.sound({
    worklet: call.dataset.worklet,
    channels,
    send,
    split: (number, samples) => {
      if (paused || !listening) return [];
      if (audio.shared) return [number === 1 ? ["them", samples] : ["me", muted ? null : samples]];
      return number === 1 ? [] : channels().map((id) => [id, id === speaker && !muted ? samples : null]);
    },
    ended: () => { stopHearing(); complain("The microphone was taken away. Press “Start listening” to go on."); },
    unshared: () => { ui.swap.hidden = ownOnly; },
  });

  /* Or the browser's own recogniser, only where it works on this device. */
  const ear = live.ear({
    language: call.dataset.language,
    wanted: () => hears === "browser" && listening && !paused && !muted,
    speaker: () => speaker,
    heard: (who, text, utterance) => say(who, text, utterance),
    growing: (who, text, utterance) => send({ type: "text", utterance_id: utterance, speaker: who, text: text.slice(0, 2000), final: false }),
    refused: (problem) => { stopHearing(); complain(microphoneProblem(problem, "Start listening")); },
  });
  const hearAgain = () => ear.fit();

  const listen = async () => {
    ui.listen.disabled = true;
    complain("");
    try {
      if (!hasMicrophone()) throw new Error(NO_MICROPHONE);
      if (hears === "server") await audio.start();
      listening = true;
      ui.listen.hidden = true;
      ui.mute.hidden = false;
      ui.swap.hidden = ownOnly;
      ui.share.hidden = ownOnly || hears !== "server" || !navigator.mediaDevices.getDisplayMedia;
      find("#idle-text").textContent = "Listening. A card appears when there is something to answer.";
      stayAwake();
      if (hears === "server") link.again();
      else { showState(); hearAgain(); }
    } catch (problem) { complain(microphoneProblem(problem, "Start listening")); }
    ui.listen.disabled = false;
  };
  const stopHearing = () => {
    listening = false;
    audio.stop();
    ear.stop();
    if (ui.listen) ui.listen.hidden = over;
    ui.mute.hidden = ui.swap.hidden = ui.share.hidden = true;
    if (!over) showState();
  };
  const mute = () => {
    muted = !muted;
    ui.mute.setAttribute("aria-pressed", String(muted));
    ui.mute.firstChild.textContent = muted ? "Hear again " : "Mute ";
    showState();
    hearAgain();
  };
  const swap = () => {
    speaker = speaker === "me" ? "them" : "me";
    find("strong", ui.swap).textContent = speaker === "me" ? "you" : them;
  };
  const switchTo = async (to) => {
    if (to === "end") { stopHearing(); ui.state.textContent = "Ending…"; }
    if (send({ type: to === "end" ? "stop" : to })) return;
    try { await post("state", { to }); location.reload(); } catch (problem) { complain(problem.message); }
  };

  /* The screen stays on while the page is looked at. */
  let lock = null;
  const stayAwake = async () => {
    if (over || document.visibilityState !== "visible" || !navigator.wakeLock) return;
    try { lock = lock && !lock.released ? lock : await navigator.wakeLock.request("screen"); } catch { lock = null; }
  };
  document.addEventListener("visibilitychange", stayAwake);

  /* Buttons and keys. */
  call.addEventListener("submit", (event) => {
    const button = event.submitter, card = event.target.closest(".cue");
    if (card) { event.preventDefault(); judge(card.dataset.cue, button.value); }
    if (button?.name === "to") { event.preventDefault(); switchTo(button.value); }
  });
  ui.listen?.addEventListener("click", listen);
  ui.mute.addEventListener("click", mute);
  ui.swap.addEventListener("click", swap);
  ui.share.addEventListener("click", async () => {
    try { await audio.share(); ui.share.hidden = ui.swap.hidden = true; } catch (problem) { complain(problem.message); }
  });
  try { ui.keys.checked = localStorage.getItem("call-keys") !== "off"; } catch { /* nothing is remembered then */ }
  ui.keys.addEventListener("change", () => { try { localStorage.setItem("call-keys", ui.keys.checked ? "on" : "off"); } catch { /* the same */ } });
  const verdict = (action) => () => { const card = find(".cue", ui.first); if (card) judge(card.dataset.cue, action); };
  const KEYS = {
    d: verdict("dismissed"), u: verdict("used"), w: verdict("wrong"), t: () => ui.line.focus(),
    p: () => ui.pause.click(), m: () => { if (listening) mute(); }, s: () => { if (!ui.swap.hidden) swap(); },
  };
  document.addEventListener("keydown", (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const typing = event.target.matches("input:not([type=checkbox]), textarea, select");
    if (typing) {
      if (event.key === "Escape") { event.target.blur(); find(".cue", ui.first)?.focus(); }
      if (event.key === "Enter" && event.target === ui.line && event.shiftKey) {
        event.preventDefault();
        ui.words.requestSubmit(find("button[value=me]", ui.words));
      }
      return;
    }
    const act = KEYS[event.key.toLowerCase()];
    if (!act || event.repeat || !ui.keys.checked || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    act();
  });

  if (ui.listen) { ui.listen.hidden = false; ui.listen.focus(); }
  if (hears === "typing") {
    stayAwake();
    hearsHere(call.dataset.language).then((here) => { find("#hear-here").hidden = !here; });
  }
  arrange();
  link.connect();
})();
