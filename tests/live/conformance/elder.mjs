// Signs a user in with the first generation of the official TypeScript client, which most products still have inside.
// Prints where the user has to go and reads where he was sent back to, as JSON lines and lines; prints what it saw.
// Arguments: endpoint, redirect URI. It cannot widen a grant that it can renew: it renews instead, and gives up.
import { createInterface } from "node:readline/promises";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [endpoint, redirect] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (told) => process.stdout.write(`${JSON.stringify(told)}\n`);

class Provider {
  redirectUrl = redirect;
  visits = 0;
  clientMetadata = {
    client_name: "elder client",
    redirect_uris: [redirect],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "none",
  };
  clientInformation = () => this.client;
  saveClientInformation = (client) => void (this.client = client);
  tokens = () => this.kept;
  saveTokens = (tokens) => void (this.kept = tokens);
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);
  codeVerifier = () => this.verifier;
  redirectToAuthorization = (url) => {
    this.visits += 1;
    say({ go: url.href });
  };
}

const provider = new Provider();
const open = () => new StreamableHTTPClientTransport(new URL(endpoint), { authProvider: provider });
const client = new Client({ name: "elder", version: "1" });
const first = open();
try {
  await client.connect(first);
} catch (fault) {
  if (!(fault instanceof UnauthorizedError)) throw fault;
  await first.finishAuth(new URL((await lines.next()).value).searchParams.get("code"));
  await client.connect(open());
}
const tools = (await client.listTools()).tools.length;
await client.callTool({ name: "remember", arguments: { text: "They give way on Fridays." } });
const before = provider.kept.refresh_token;
// On the wire a token that expired is one that is not believed any more.
provider.kept = { ...provider.kept, access_token: "expired" };
const called = await client.callTool({ name: "list_negotiations", arguments: { limit: 1 } });
say({ tools, visits: provider.visits, renewed: provider.kept.refresh_token !== before, error: Boolean(called.isError) });
await client.close();
process.exit(0);
