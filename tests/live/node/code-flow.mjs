// Goes through the code flow with openid-client: registers itself, prints where the user has to go, reads from standard
// input where he was sent back to, and prints what it believes, as JSON lines. Argument: base URL.
import { createInterface } from "node:readline/promises";
import * as openid from "openid-client";

const [base] = process.argv.slice(2);
const redirect_uri = "https://app.example/callback";
const scope = "openid profile negotiations:read";
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (told) => process.stdout.write(`${JSON.stringify(told)}\n`);

const config = await openid.dynamicClientRegistration(
  new URL(base),
  {
    client_name: "openid-client",
    redirect_uris: [redirect_uri],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "client_secret_post",
  },
  undefined,
  { execute: [openid.allowInsecureRequests] },
);
const pkceCodeVerifier = openid.randomPKCECodeVerifier();
const expectedState = openid.randomState();
const expectedNonce = openid.randomNonce();
const url = openid.buildAuthorizationUrl(config, {
  redirect_uri,
  scope,
  resource: `${base}/mcp`,
  code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
  code_challenge_method: "S256",
  state: expectedState,
  nonce: expectedNonce,
  max_age: "600",
});
say({ go: url.href });

const back = new URL((await lines.next()).value);
const checks = { pkceCodeVerifier, expectedState, expectedNonce, maxAge: 600, idTokenExpected: true };
const mixedUp = new URL(back);
mixedUp.searchParams.set("iss", "https://evil.example");
let mixed;
try {
  await openid.authorizationCodeGrant(config, mixedUp, checks);
} catch (refused) {
  mixed = refused.code;
}
const tokens = await openid.authorizationCodeGrant(config, back, checks);
const claims = tokens.claims();
const user = await openid.fetchUserInfo(config, tokens.access_token, claims.sub);
const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token);
await openid.tokenRevocation(config, renewed.refresh_token);
let after;
try {
  await openid.fetchUserInfo(config, renewed.access_token, claims.sub);
} catch (refused) {
  after = refused.cause?.[0]?.parameters?.error ?? refused.code;
}
let ended;
try {
  await openid.refreshTokenGrant(config, renewed.refresh_token);
} catch (refused) {
  ended = refused.error;
}
say({
  issuer: claims.iss,
  scope: tokens.scope,
  sub: claims.sub === user.sub,
  name: user.name,
  renewed: renewed.claims().sub === claims.sub,
  mixed,
  after,
  ended,
});
process.exit(0);
