// Goes through the code flow with openid-client: registers itself, prints where the user has to go, reads from standard
// input where he was sent back to, and prints what it believes, as JSON lines. Arguments: base URL, and "dpop" for a code,
// tokens and requests that are bound to a key.
import { createInterface } from "node:readline/promises";
import * as openid from "openid-client";

const [base, kind] = process.argv.slice(2);
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
const DPoP = kind === "dpop" ? openid.getDPoPHandle(config, await openid.randomDPoPKeyPair()) : undefined;
const pkceCodeVerifier = openid.randomPKCECodeVerifier();
const expectedState = openid.randomState();
const expectedNonce = openid.randomNonce();
const url = openid.buildAuthorizationUrl(config, {
  redirect_uri,
  scope,
  resource: base,
  code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
  code_challenge_method: "S256",
  state: expectedState,
  nonce: expectedNonce,
  max_age: "600",
  ...(DPoP ? { dpop_jkt: await DPoP.calculateThumbprint() } : {}),
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
let unbound;
if (DPoP) {
  try {
    await openid.authorizationCodeGrant(config, back, checks);
  } catch (refused) {
    unbound = refused.error;
  }
}
const tokens = await openid.authorizationCodeGrant(config, back, checks, undefined, { DPoP });
const claims = tokens.claims();
const user = await openid.fetchUserInfo(config, tokens.access_token, claims.sub, { DPoP });
const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token, undefined, { DPoP });
await openid.tokenRevocation(config, renewed.refresh_token);
let after;
try {
  await openid.fetchUserInfo(config, renewed.access_token, claims.sub, { DPoP });
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
  type: renewed.token_type,
  unbound,
  after,
  ended,
});
process.exit(0);
