// npm's better-auth with its OAuth provider: POST /oauth2/register (public clients) and POST /oauth2/token
// (client_credentials, JWT), rows in SQLite. PORT, FOLDER; the client's Basic credentials go to FOLDER/better-auth.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { oauthProvider } from '@better-auth/oauth-provider';
import Database from 'better-sqlite3';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import { jwt } from 'better-auth/plugins';

const { PORT, FOLDER } = process.env;
const SCOPE = 'negotiations:read';
const database = new Database(`${FOLDER}/better-auth.db`);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
const options = {
  baseURL: `http://127.0.0.1:${PORT}`,
  basePath: '/',
  secret: 'a secret of the benchmark, long enough',
  database,
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { level: 'error' },
  plugins: [
    jwt({ jwks: { keyPairConfig: { alg: 'ES256' } }, disableSettingJwtHeader: true }),
    oauthProvider({
      loginPage: '/login',
      consentPage: '/consent',
      scopes: ['openid', SCOPE],
      resources: ['urn:negotiator'],
      enforcePerClientResources: false,
      clientPrivileges: () => true,
      allowDynamicClientRegistration: true,
      allowUnauthenticatedClientRegistration: true,
      silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
    }),
  ],
};
await (await getMigrations(options)).runMigrations();
const auth = betterAuth(options);
const { headers } = await auth.api.signUpEmail({
  body: { name: 'Ada', email: 'ada@example.com', password: 'a long password' }, returnHeaders: true,
});
const cookie = headers.getSetCookie().map((each) => each.split(';')[0]).join('; ');
const client = await auth.api.adminCreateOAuthClient({
  headers: new Headers({ cookie }),
  body: {
    grant_types: ['client_credentials'], response_types: [], redirect_uris: ['https://app.example/cb'],
    scope: SCOPE, client_credentials_scopes: [SCOPE], token_endpoint_auth_method: 'client_secret_basic',
  },
});
writeFileSync(`${FOLDER}/better-auth`, `${client.client_id}:${client.client_secret}`);
createServer(toNodeHandler(auth)).listen(Number(PORT), '127.0.0.1');
