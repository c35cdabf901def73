// Drives the service with two independent clients and prints what they believe, as one JSON object.
// Arguments: base URL, client id, client secret, two ID-JAGs.
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";

const [base, id, secret, first, second] = process.argv.slice(2);
const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const plain = { [oauth.allowInsecureRequests]: true };

async function withOauth4webapi() {
  const issuer = new URL(base);
  const found = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...plain });
  const as = await oauth.processDiscoveryResponse(issuer, found);
  const client = { client_id: id };
  const auth = oauth.ClientSecretBasic(secret);
  const granted = await oauth.processClientCredentialsResponse(
    as,
    client,
    await oauth.clientCredentialsGrantRequest(as, client, auth, { scope: "memories:read" }, plain),
  );
  const headers = { authorization: `Bearer ${granted.access_token}` };
  const claims = await oauth.validateJwtAccessToken(as, new Request(base, { headers }), base, plain);
  const inspect = async () =>
    oauth.processIntrospectionResponse(
      as,
      client,
      await oauth.introspectionRequest(as, client, auth, granted.access_token, plain),
    );
  const before = await inspect();
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(as, client, auth, granted.access_token, plain),
  );
  const after = await inspect();
  const asserted = await oauth.processGenericTokenEndpointResponse(
    as,
    client,
    await oauth.genericTokenEndpointRequest(as, client, auth, JWT_BEARER, { assertion: first }, plain),
  );
  let challenge;
  try {
    const url = new URL("/api/negotiations", base);
    await oauth.protectedResourceRequest(granted.access_token, "GET", url, undefined, null, plain);
  } catch (refused) {
    challenge = refused.cause?.[0]?.parameters?.error;
  }
  return {
    issuer: as.issuer,
    granted: granted.scope,
    claims: claims.client_id,
    before: before.active,
    after: after.active,
    asserted: asserted.token_type,
    challenge,
  };
}

async function withOpenidClient() {
  const config = await openid.discovery(new URL(base), id, secret, openid.ClientSecretPost(secret), {
    algorithm: "oauth2",
    execute: [openid.allowInsecureRequests],
  });
  const granted = await openid.clientCredentialsGrant(config, { scope: "openid", resource: base });
  const before = await openid.tokenIntrospection(config, granted.access_token);
  await openid.tokenRevocation(config, granted.access_token);
  const after = await openid.tokenIntrospection(config, granted.access_token);
  const asserted = await openid.genericGrantRequest(config, JWT_BEARER, { assertion: second });
  let replayed;
  try {
    await openid.genericGrantRequest(config, JWT_BEARER, { assertion: second });
  } catch (refused) {
    replayed = refused.error;
  }
  return {
    issuer: config.serverMetadata().issuer,
    granted: granted.scope,
    before: before.active,
    after: after.active,
    asserted: asserted.expires_in,
    replayed,
  };
}

const told = { oauth4webapi: await withOauth4webapi(), openidClient: await withOpenidClient() };
process.stdout.write(JSON.stringify(told));
