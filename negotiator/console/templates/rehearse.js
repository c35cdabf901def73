// A rehearsal by voice: what the user says is their turn, the counterpart's sentences are read aloud, and cards coach.
(() => {
  "use strict";
  const find = (selector, within = document) => within.querySelector(selector);
  const root = find("#rehearsal");
  if (!root || !find("#turn")) return;
  const { calls, hears: engine, language, voice: opening, worklet } = root.dataset;
  const ui = Object.fromEntries(["speak", "aloud", "coaching", "cards", "heard", "says", "who"].map((id) => [id, find(`#${id}`)]));
  const PAUSE_MS = 900, AFTER_VOICE_MS = 300, MOST_CARDS = 2, BUTTON = "Speak";
  const field = (name) => find(`#turn input[name=${name}]`)?.value ?? "";
  const csrf = () => field("csrf") || find("input[name=csrf]").value;
  const theirWords = () => ui.says.textContent.trim();

  /* What the page knows: whether the user speaks, who hears, and whether the browser's voice is heard now. */
  let on = false, hears = "", quiet = false;
  const show = (text) => {
    const plain = quiet ? "They are speaking." : on ? "Listening. Your turn is what you say." : "";
    ui.heard.textContent = text ?? plain;
    ui.heard.classList.remove("error");
    ui.speak.textContent = on ? "Stop speaking" : BUTTON;
  };
  const complain = (text) => { ui.heard.textContent = text; ui.heard.classList.add("error"); };

  /* The user's turn: what was heard is sent once nothing more comes for a moment, and never while a turn is under way. */
  let words = "", timer = 0, bySpeech = false;
  const wait = () => { clearTimeout(timer); if (words) timer = setTimeout(play, PAUSE_MS); };
  const play = () => {
    if (!on) return;
    const form = find("#turn"), said = find("#said");
    if (!form || quiet || find(".htmx-request")) { wait(); return; }
    said.value = words.slice(0, said.maxLength);
    words = "";
    bySpeech = true;
    form.requestSubmit(find("#say-it"));
    bySpeech = false;
    show();
  };
  const growing = (text) => { clearTimeout(timer); if (text) show(`${words} ${text}`.trim()); else { show(words || undefined); wait(); } };
  const heard = (text) => { if (!on) return; words = `${words} ${text}`.trim(); show(words); wait(); };

  /* The practice session: the server hears through it, and it raises the cards. Its words wait until the socket is open. */
  let session = null, wish = 0, unheard = new Map();
  const erase = (id) => navigator.sendBeacon(`${calls}/${id}/erase`, new URLSearchParams({ csrf: csrf() }));
  const close = () => {
    if (!session) return;
    session.link.close();
    erase(session.id);
    session = null;
    unheard = new Map();
  };
  const tell = (speaker, text) => {
    if (!session || !text) return;
    const message = { type: "text", utterance_id: live.nextId("r"), speaker, text: text.slice(0, 2000), final: true };
    unheard.set(message.utterance_id, message);
    session.link.send(message);
  };
  const take = (message) => {
    switch (message.type) {
      case "ready":
        audio.begin(message.audio_ms);
        for (const said of unheard.values()) session.link.send(said);
        break;
      case "ack": if (message.of === "text") unheard.delete(message.utterance_id); break;
      case "transcript.partial": if (message.speaker === "me") growing(message.text); break;
      case "transcript.final": if (message.speaker === "me" && hears === "server" && !message.utterance_id.startsWith("r-")) heard(message.text ?? ""); break;
      case "cue": case "cue.update": showCard(message.cue); break;
      case "cue.retract": cards.get(message.id)?.remove(); break;
      case "notice": if (message.detail?.fatal) complain(message.detail.description); break;
      case "error": unheard.delete(message.utterance_id); complain(message.description); break;
      case "ended": session?.link.close(); session = null; stop(); break;
    }
    if (message.seq && session) session.after = Math.max(session.after, message.seq);
  };
  const fit = async () => {
    const byServer = on && hears === "server", cued = ui.coaching.checked;
    const kind = `${byServer} ${cued}`, mine = ++wish;
    if (session?.kind === kind) return;
    close();
    if (!byServer && !cued) return;
    const made = await (await live.post(opening, csrf(), { hears: byServer ? "server" : "", cards: cued ? "on" : "" })).json();
    if (mine !== wish) { erase(made.session); return; }
    session = {
      id: made.session, kind, after: 0,
      link: live.link({
        address: `${location.origin.replace(/^http/, "ws")}${made.socket}`,
        ticket: async () => (await (await live.post(`${calls}/${made.session}/ticket`, csrf())).json()).ticket,
        start: () => ({ channels: channels().map((id) => ({ id })), after: session.after }),
        take, changed: () => {}, failed: complain, replaced: () => stop(),
      }),
    };
    if (cued) tell("them", theirWords());
    session.link.connect();
  };

  /* The microphone: to the server, or to the browser's own recogniser. It gets silence while the counterpart is read aloud. */
  const channels = () => (on && hears === "server" ? ["me"] : []);
  const audio = live.sound({
    worklet, channels,
    send: (bytes) => session?.link.send(bytes) ?? false,
    split: (number, samples) => (on && number === 0 ? [["me", quiet ? null : samples]] : []),
    ended: () => { stop(); complain(`The microphone was taken away. Press “${BUTTON}” to go on.`); },
  });
  const ear = live.ear({
    language,
    wanted: () => on && hears === "browser" && !quiet,
    speaker: () => "me",
    heard: (_, text) => { tell("me", text); heard(text); },
    growing: (_, text) => growing(text),
    refused: (problem) => { stop(); complain(live.microphoneProblem(problem, BUTTON)); },
  });
  const start = async () => {
    ui.speak.disabled = true;
    try {
      if (!live.hasMicrophone()) throw new Error(live.NO_MICROPHONE);
      if (hears === "server") await audio.start();
      on = true;
      show();
      if (ui.aloud.checked && readTurn !== field("shown")) readAloud(theirWords());
      await fit();
      ear.fit();
    } catch (problem) { stop(); complain(live.microphoneProblem(problem, BUTTON)); }
    ui.speak.disabled = false;
  };
  const stop = () => {
    on = false;
    words = "";
    clearTimeout(timer);
    audio.stop();
    ear.stop();
    show();
    return fit().catch((problem) => complain(problem.message));
  };

  /* The browser's voice. Some browsers never say that it has ended, so a clock does too. */
  let uttered = null, readTurn = "";
  const readAloud = (text) => {
    if (!window.speechSynthesis || !text) return;
    speechSynthesis.cancel();
    const mine = new SpeechSynthesisUtterance(text);
    mine.lang = live.spokenTag(language);
    const guard = setTimeout(() => done(), 3000 + 150 * text.length);
    const done = () => {
      clearTimeout(guard);
      if (uttered === mine) setTimeout(() => { if (uttered === mine) hush(); }, AFTER_VOICE_MS);
    };
    mine.onend = mine.onerror = done;
    uttered = mine;
    readTurn = field("shown");
    quiet = true;
    show();
    ear.fit();
    speechSynthesis.speak(mine);
  };
  const hush = () => {
    uttered = null;
    quiet = false;
    window.speechSynthesis?.cancel();
    show();
    ear.fit();
  };

  /* Cards, the newest first. They teach nothing here, so they are only put away. */
  const cards = new Map();
  const line = (tag, kind, text) => Object.assign(document.createElement(tag), { className: kind, textContent: text });
  const showCard = (cue) => {
    cards.get(cue.id)?.remove();
    const card = line("article", "cue", ""), away = line("button", "small second", "Dismiss");
    card.dataset.cue = cue.id;
    card.dataset.size = 5;
    away.type = "button";
    away.onclick = () => card.remove();
    card.append(line("h2", "", cue.title), line("p", "say", cue.say), line("p", "why", cue.why), away);
    cards.set(cue.id, card);
    ui.cards.prepend(card);
    while (ui.cards.children.length > MOST_CARDS) ui.cards.lastElementChild.remove();
    setTimeout(() => card.remove(), cue.ttl_ms);
  };

  /* A turn is answered when the page has a new number of turns. */
  let turns = field("shown");
  document.addEventListener("htmx:afterSettle", () => {
    if (!find("#turn") || field("shown") === turns) return;
    turns = field("shown");
    if (ui.aloud.checked) readAloud(theirWords());
    if (ui.coaching.checked) tell("them", theirWords());
  });
  document.addEventListener("submit", (event) => {
    if (event.target.id !== "turn") return;
    hush();
    if (!bySpeech && event.submitter?.value === "say") tell("me", find("#said").value.trim());
  }, true);

  ui.speak.addEventListener("click", () => (on ? stop() : start()));
  ui.aloud.addEventListener("change", () => (ui.aloud.checked ? readAloud(theirWords()) : hush()));
  ui.coaching.addEventListener("change", () => {
    if (!ui.coaching.checked) ui.cards.replaceChildren();
    fit().catch((problem) => complain(problem.message));
  });
  window.addEventListener("pagehide", () => { ui.coaching.checked = false; hush(); if (on) stop(); else close(); });

  ui.aloud.closest("label").hidden = !window.speechSynthesis;
  ui.coaching.closest("label").hidden = false;
  live.hearsHere(language).then((here) => {
    hears = here ? "browser" : engine;
    ui.speak.hidden = ui.who.hidden = !hears || !live.hasMicrophone();
    if (here) ui.who.textContent = "Your browser hears, on this device; no sound leaves it.";
    ui.who.textContent += " No word is kept.";
  });
})();
