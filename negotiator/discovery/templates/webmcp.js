// Offers what needs no credential here to an agent in the visitor's browser (WebMCP).
"use strict";
(() => {
  const tools = __TOOLS__;
  // Newer browsers have it on the document, older ones on the navigator; registering at both would do it twice.
  const context = document.modelContext ?? navigator.modelContext;
  if (!context || typeof context.registerTool !== "function") return;

  const call = async ({ method, path, fixed }, input) => {
    const left = { ...input, ...fixed };
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
      const value = encodeURIComponent(String(left[name]));
      delete left[name];
      return value;
    });
    const request = { method, credentials: "omit", headers: { Accept: "application/json, text/*" } };
    let query = "";
    if (method === "GET") {
      const pairs = Object.entries(left)
        .flatMap(([name, value]) => [value].flat().map((each) => [name, each]))
        .filter(([, value]) => value !== undefined && value !== null);
      query = pairs.length ? `?${new URLSearchParams(pairs)}` : "";
    } else {
      request.headers["Content-Type"] = "application/json";
      request.body = JSON.stringify(left);
    }
    const answer = await fetch(filled + query, request);
    return { content: [{ type: "text", text: await answer.text() }], isError: !answer.ok };
  };

  for (const { name, description, inputSchema, readOnly, ...place } of tools) {
    context.registerTool({
      name,
      description,
      inputSchema,
      annotations: { readOnlyHint: readOnly },
      execute: (input) => call(place, input ?? {}),
    });
  }
})();
