// What the pages of a call and of a spoken rehearsal share: the microphone, the browser's own recogniser, and the socket of a session.
globalThis.live = (() => {
  "use strict";
  const Recogniser = window.SpeechRecognition || window.webkitSpeechRecognition;
  const COUNTRIES = { en: "en-US", de: "de-DE", fr: "fr-FR", es: "es-ES" };
  const spokenTag = (language) =>
    (navigator.languages || []).find((tag) => tag.startsWith(`${language}-`)) || COUNTRIES[language] || language;

  /* Whether the browser recognises this language on the device itself. */
  const hearsHere = async (language) => {
    if (!Recogniser || typeof Recogniser.available !== "function") return false;
    try {
      return (await Recogniser.available({ langs: [spokenTag(language)], processLocally: true })) === "available";
    } catch { return false; }
  };
  const NO_MICROPHONE = "This browser gives no microphone to this page: open it by https, or as localhost on this computer. Typing works.";
  const hasMicrophone = () => Boolean(window.isSecureContext && navigator.mediaDevices?.getUserMedia && window.AudioWorkletNode);
  const microphoneProblem = (problem, button) => {
    if (!hasMicrophone()) return NO_MICROPHONE;
    if (problem.name === "NotAllowedError") return `The microphone was refused. Allow it beside the page's address and press “${button}” again. Typing works meanwhile.`;
    if (problem.name === "NotFoundError") return `No microphone was found. Plug one in and press “${button}” again. Typing works meanwhile.`;
    return problem.message || "The microphone could not be used. Typing works.";
  };

  const NO_NETWORK = "There is no connection at the moment. This page goes on as soon as it is back.";
  const post = async (address, csrf, members = {}) => {
    const body = new URLSearchParams({ csrf, ...members });
    const answer = await fetch(address, { method: "POST", body, keepalive: true }).catch(() => { throw new Error(NO_NETWORK); });
    if (answer.redirected && answer.url.includes("/sign-in")) throw new Error("You are signed out. Sign in again in another tab; this page goes on by itself.");
    if (!answer.ok) throw new Error(`The server refused this (${answer.status}).`);
    return answer;
  };

  /* A new id for each utterance of this page. */
  const run = [...crypto.getRandomValues(new Uint8Array(4))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  let count = 0;
  const nextId = (kind) => `${kind}-${run}-${count++}`;

  /* The socket of a session, opened again when it breaks. A ticket opens it once; `start` makes the first message, `take` gets the others. */
  const link = ({ address, ticket, start, take, changed, failed, replaced = () => {}, pong = () => {} }) => {
    let socket = null, ready = false, lost = false, closed = false, opening = false, tries = 0, timer = 0, spokeAt = 0, pingAt = 0;
    const send = (message) => {
      if (!ready || socket.readyState !== WebSocket.OPEN) return false;
      socket.send(typeof message === "object" && !(message instanceof Uint8Array) ? JSON.stringify(message) : message);
      return true;
    };
    const drop = (soon, planned = false) => {
      const old = socket;
      lost = !planned;
      socket = null;
      ready = false;
      if (old) {
        old.onclose = old.onmessage = null;
        old.onopen = () => old.close(); /* a browser complains of a socket that is closed before it is open */
        if (old.readyState !== WebSocket.CONNECTING) old.close();
      }
      changed();
      clearTimeout(timer);
      if (!closed) timer = setTimeout(connect, soon ? 0 : Math.min(5000, 250 * 2 ** tries++));
    };
    const heard = async (message) => {
      if (message.type === "ready") { ready = true; lost = false; tries = 0; }
      if (message.type === "pong") pong(performance.now() - pingAt);
      else if (message.type === "error" && message.code === "token_expired") {
        try { socket?.send(JSON.stringify({ type: "auth", ticket: await ticket() })); } catch (problem) { failed(problem.message); }
      } else take(message);
    };
    const connect = async () => {
      if (opening || closed) return;
      opening = true;
      clearTimeout(timer);
      try {
        const mine = new WebSocket(address, ["negotiator.teleprompter.v1", `ticket.${await ticket()}`]);
        socket = mine;
        spokeAt = performance.now();
        mine.onopen = () => mine.send(JSON.stringify({ type: "start", ...start() }));
        mine.onmessage = (message) => { spokeAt = performance.now(); if (mine === socket) heard(JSON.parse(message.data)); };
        mine.onclose = (event) => {
          if (mine !== socket) return;
          if (event.code === 4409) { closed = true; replaced(); }
          drop(event.code === 1000);
        };
      } catch (problem) {
        if (problem.message !== NO_NETWORK) failed(problem.message);
        opening = false;
        drop(false);
      }
      opening = false;
    };
    const beat = setInterval(() => {
      if (!socket) return;
      if (performance.now() - spokeAt > 12000) drop(true);
      else if (ready) { pingAt = performance.now(); send({ type: "ping" }); }
    }, 5000);
    const away = () => drop(false), back = () => { tries = 0; drop(true); };
    const returned = (event) => { if (event.persisted) drop(true); };
    window.addEventListener("offline", away);
    window.addEventListener("online", back);
    window.addEventListener("pageshow", returned);
    return {
      send, drop, connect,
      get ready() { return ready; },
      get lost() { return lost; },
      again() { closed = false; tries = 0; drop(true, true); },
      close() {
        closed = true;
        drop(true, true);
        clearInterval(beat);
        window.removeEventListener("offline", away);
        window.removeEventListener("online", back);
        window.removeEventListener("pageshow", returned);
      },
    };
  };

  /* Sound to the server, 100 ms a frame. `split` says what of a frame each channel gets, null for silence, so that its last words end. */
  const sound = ({ worklet, channels, split, send, ended, unshared = () => {} }) => {
    const FRAME = 1600, MOST_WAITING = 160;
    let context = null, streams = [], shared = false, node = null, waiting = [], base = {}, sent = {};
    const frame = (number, samples) => {
      const bytes = new Uint8Array(1 + FRAME * 2);
      bytes[0] = number;
      if (samples) bytes.set(new Uint8Array(samples.buffer, samples.byteOffset, FRAME * 2), 1);
      return bytes;
    };
    const pass = (id, samples) => {
      const bytes = frame(channels().indexOf(id), samples);
      if (send(bytes)) { sent[id] = (sent[id] || 0) + 100; return; }
      waiting.push([id, bytes]);
      if (waiting.length > MOST_WAITING) waiting.shift();
    };
    return {
      get shared() { return shared; },
      async start() {
        const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true } });
        context = new AudioContext();
        await context.audioWorklet.addModule(worklet);
        node = new AudioWorkletNode(context, "samples", { numberOfInputs: 2, numberOfOutputs: 0 });
        node.port.onmessage = ({ data: { number, samples } }) => { for (const [id, part] of split(number, samples)) pass(id, part); };
        context.createMediaStreamSource(stream).connect(node, 0, 0);
        await context.resume();
        streams = [stream];
        stream.getTracks()[0].addEventListener("ended", ended);
      },
      async share() {
        const stream = await navigator.mediaDevices.getDisplayMedia({ video: true, audio: true });
        if (!stream.getAudioTracks().length) {
          stream.getTracks().forEach((track) => track.stop());
          throw new Error("No sound was shared: choose a tab and tick “share tab audio”.");
        }
        stream.getVideoTracks().forEach((track) => { track.enabled = false; });
        context.createMediaStreamSource(new MediaStream(stream.getAudioTracks())).connect(node, 0, 1);
        streams.push(stream);
        shared = true;
        stream.getAudioTracks()[0].addEventListener("ended", () => { shared = false; unshared(); });
      },
      stop() {
        streams.forEach((stream) => stream.getTracks().forEach((track) => track.stop()));
        streams = [];
        context?.close();
        context = node = null;
        waiting = [];
        shared = false;
      },
      /* After a break the sound of the last eight seconds is sent first. */
      begin(heardMs) {
        base = heardMs;
        sent = {};
        const late = waiting;
        waiting = [];
        if (channels().length) for (const [id, bytes] of late) { send(bytes); sent[id] = (sent[id] || 0) + 100; }
      },
      position: (id) => (id in base ? base[id] + (sent[id] || 0) : 0),
    };
  };

  /* The browser's own recogniser, only where it works on this device; it goes on as long as `wanted`. */
  const ear = ({ language, wanted, speaker, heard, growing, refused }) => {
    let recogniser = null;
    const listen = () => {
      if (!wanted() || recogniser) return;
      const one = new Recogniser(), name = nextId("b"), speakers = [];
      Object.assign(one, { lang: spokenTag(language), continuous: true, interimResults: true, processLocally: true });
      one.onresult = (event) => {
        for (let place = event.resultIndex; place < event.results.length; place++) {
          const result = event.results[place], text = result[0].transcript.trim();
          speakers[place] ??= speaker();
          if (!text) continue;
          (result.isFinal ? heard : growing)(speakers[place], text, `${name}.${place}`);
        }
      };
      one.onerror = (event) => { if (["not-allowed", "service-not-allowed", "audio-capture", "language-not-supported"].includes(event.error)) refused({ name: "NotAllowedError" }); };
      one.onend = () => { recogniser = null; setTimeout(listen, 200); };
      recogniser = one;
      one.start();
    };
    return { stop: () => recogniser?.stop(), fit: () => (wanted() ? listen() : recogniser?.stop()) };
  };

  return { ear, hasMicrophone, hearsHere, link, microphoneProblem, nextId, NO_MICROPHONE, post, sound, spokenTag };
})();
