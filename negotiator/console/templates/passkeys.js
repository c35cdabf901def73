// Passkeys: a form with data-passkey asks the browser for one before it is sent. Without script or passkeys it stays hidden.
(() => {
  "use strict";
  if (!window.PublicKeyCredential) return;
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (mark) => mark.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  const fetchOptions = async (form) => {
    const answer = await fetch(form.dataset.passkey, { headers: { accept: "application/json" } });
    if (!answer.ok || answer.redirected) throw new Error("no challenge");
    const options = await answer.json();
    options.challenge = bytes(options.challenge);
    if (options.user) options.user.id = bytes(options.user.id);
    for (const one of [...(options.excludeCredentials ?? []), ...(options.allowCredentials ?? [])]) one.id = bytes(one.id);
    return options;
  };
  const written = (credential) => {
    const answer = credential.response;
    const response = { clientDataJSON: text(answer.clientDataJSON) };
    for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (answer[name]) response[name] = text(answer[name]);
    }
    return JSON.stringify({ id: credential.id, rawId: text(credential.rawId), type: credential.type, response });
  };
  const send = (form, credential) => {
    form.elements.credential.value = written(credential);
    form.dataset.answered = "1";
    form.requestSubmit();
  };
  const reasons = {
    NotAllowedError: "No passkey was given. Try again when you are ready.",
    InvalidStateError: "This device has a passkey for this account already.",
    SecurityError: "Passkeys do not work at this address.",
  };
  const tell = (form, sentence) => {
    const place = form.querySelector("[data-passkey-error]");
    place.textContent = sentence;
    place.hidden = !sentence;
  };

  // The browser offers passkeys among the e-mail addresses that it completes, until the button asks for one.
  let waiting = null;
  const offer = async (form) => {
    if (!await PublicKeyCredential.isConditionalMediationAvailable?.()) return;
    waiting = new AbortController();
    const renewal = setTimeout(() => { waiting?.abort(); offer(form); }, 240000);
    try {
      const publicKey = await fetchOptions(form);
      send(form, await navigator.credentials.get({ publicKey, mediation: "conditional", signal: waiting.signal }));
    } catch {
      // Nobody chose one; the button and the password are there.
    } finally {
      clearTimeout(renewal);
    }
  };

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.dataset.passkey || form.dataset.answered) return;
    event.preventDefault();
    waiting?.abort();
    waiting = null;
    tell(form, "");
    try {
      const publicKey = await fetchOptions(form);
      send(form, publicKey.user
        ? await navigator.credentials.create({ publicKey })
        : await navigator.credentials.get({ publicKey }));
    } catch (fault) {
      tell(form, reasons[fault.name] ?? "That did not work. Load the page again and try once more.");
    }
  });
  for (const place of document.querySelectorAll("[data-passkey-place]")) place.hidden = false;
  const entrance = document.querySelector("form[data-passkey-offer]");
  if (entrance) offer(entrance);
})();
