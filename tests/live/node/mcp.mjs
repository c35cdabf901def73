// Talks to the MCP endpoint with the official TypeScript client and prints what it saw, as one JSON object.
// Arguments: endpoint, bearer token, the revision to speak ("auto" or a handshake), calls as JSON: [[tool, arguments]].
// An argument "$tool.member" stands for a member of an earlier answer.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [endpoint, token, revision, calls] = process.argv.slice(2);
const transport = new StreamableHTTPClientTransport(new URL(endpoint), {
  requestInit: { headers: { authorization: `Bearer ${token}` } },
});
const mode = revision === "auto" ? "auto" : "legacy";
const client = new Client({ name: "interop", version: "1" }, { versionNegotiation: { mode } });
await client.connect(transport);

const answers = {};
const known = (value) => {
  if (typeof value !== "string" || !value.startsWith("$")) return value;
  const [tool, ...members] = value.slice(1).split(".");
  return members.reduce((found, member) => found[member], answers[tool]);
};
const tools = (await client.listTools()).tools.map((tool) => tool.name);
for (const [tool, sent] of JSON.parse(calls)) {
  const given = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, known(value)]));
  const result = await client.callTool({ name: tool, arguments: given });
  if (result.isError) throw new Error(`${tool}: ${result.content[0].text}`);
  answers[tool] = result.structuredContent;
}
let refused = null;
try {
  await client.callTool({ name: "add_tactic", arguments: {} });
} catch (fault) {
  refused = String(fault);
}
const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
const shelf = await client.readResource({ uri: "negotiator://tactics" });
console.log(
  JSON.stringify({
    server: client.getServerVersion().name,
    revision: client.getNegotiatedProtocolVersion(),
    tools,
    called: Object.keys(answers),
    refused,
    prompts,
    shelf: shelf.contents[0].mimeType,
  }),
);
await client.close();
