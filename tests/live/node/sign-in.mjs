// Signs a user in with the official TypeScript client and works until its token has expired. Prints where the user has
// to go, as JSON lines, reads from standard input where he was sent back to, and prints what it saw in the end.
// Arguments: endpoint, redirect URI, "dpop" or "bearer", calls as JSON: [[tool, arguments]].
import { createInterface } from "node:readline/promises";
import { Client, DpopSession, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";

const [endpoint, redirect, kind, calls] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (told) => process.stdout.write(`${JSON.stringify(told)}\n`);
const session = kind === "dpop" ? await DpopSession.create() : undefined;

class Provider {
  kept = [];
  visits = 0;
  redirectUrl = redirect;
  clientMetadata = {
    client_name: "TypeScript client",
    redirect_uris: [redirect],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "none",
  };
  state = () => (this.stateSent = crypto.randomUUID());
  clientInformation = () => this.client;
  saveClientInformation = (client) => void (this.client = client);
  tokens = () => this.kept.at(-1);
  saveTokens = (tokens) => void this.kept.push(tokens);
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);
  codeVerifier = () => this.verifier;
  saveDiscoveryState = (found) => void (this.found = found);
  discoveryState = () => this.found;
  redirectToAuthorization = (url) => {
    this.visits += 1;
    say({ go: url.href });
  };
}

const provider = new Provider();
if (session) provider.dpop = () => session;
const transports = [];
const open = () => {
  transports.push(new StreamableHTTPClientTransport(new URL(endpoint), { authProvider: provider }));
  return transports.at(-1);
};
// Does it, signing in as often as that is asked for.
const signed = async (work) => {
  try {
    return await work();
  } catch (fault) {
    if (!UnauthorizedError.isInstance(fault)) throw fault;
    const back = new URL((await lines.next()).value).searchParams;
    if (back.get("state") !== provider.stateSent) throw new Error("another state came back");
    await transports.at(-1).finishAuth(back);
    return signed(work);
  }
};

const client = await signed(async () => {
  const trying = new Client({ name: "signer", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await trying.connect(open());
  return trying;
});
const tools = (await client.listTools()).tools.length;
const answered = [];
const call = async (name, given) => {
  const result = await signed(() => client.callTool({ name, arguments: given }));
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
  answered.push(name);
};
for (const [name, given] of JSON.parse(calls)) await call(name, given);
const before = { visits: provider.visits, tokens: provider.kept.length };
await new Promise((over) => setTimeout(over, provider.tokens().expires_in * 1000 + 100));
await call("list_negotiations", { limit: 1 });
say({
  revision: client.getNegotiatedProtocolVersion(),
  tools,
  answered,
  visits: before.visits,
  asked_again: provider.visits - before.visits,
  renewed: provider.kept.length - before.tokens,
  types: [...new Set(provider.kept.map((tokens) => tokens.token_type))],
  scopes: [provider.kept[0].scope, provider.tokens().scope],
});
await client.close();
process.exit(0);
