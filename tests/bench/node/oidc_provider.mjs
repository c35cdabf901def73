// npm's oidc-provider: POST /token (client_credentials) and POST /reg (dynamic registration).
// PORT; FOLDER; STORE is `memory` (its own, which forgets) or `sqlite`; FORMAT of access tokens is `opaque` or `jwt`.
import { generateKeyPairSync } from 'node:crypto';
import Database from 'better-sqlite3';
import { Provider } from 'oidc-provider';

const { PORT, FOLDER, STORE, FORMAT, CLIENT, SECRET } = process.env;
const SCOPE = 'negotiations:read';
const now = () => Math.floor(Date.now() / 1000);

function sqliteAdapter() {
  const db = new Database(`${FOLDER}/oidc-${FORMAT}.db`);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec(`create table item(id text primary key, payload text, expires integer, grant_id text) without rowid;
           create index item_grant on item(grant_id);`);
  const put = db.prepare(`insert into item values (?, ?, ?, ?)
    on conflict(id) do update set payload = excluded.payload, expires = excluded.expires`);
  const get = db.prepare('select payload, expires from item where id = ?');
  const remove = db.prepare('delete from item where id = ?');
  const removeGrant = db.prepare('delete from item where grant_id = ?');
  return class SqliteAdapter {
    constructor(model) {
      this.model = model;
    }
    async upsert(id, payload, expiresIn) {
      const expires = expiresIn ? now() + expiresIn : null;
      put.run(`${this.model}:${id}`, JSON.stringify(payload), expires, payload.grantId ?? null);
    }
    async find(id) {
      const row = get.get(`${this.model}:${id}`);
      return row && (!row.expires || row.expires > now()) ? JSON.parse(row.payload) : undefined;
    }
    async findByUid() {}
    async findByUserCode() {}
    async consume(id) {
      await this.upsert(id, { ...(await this.find(id)), consumed: now() });
    }
    async destroy(id) {
      remove.run(`${this.model}:${id}`);
    }
    async revokeByGrantId(grant) {
      removeGrant.run(grant);
    }
  };
}

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const resource = {
  scope: SCOPE, audience: 'urn:negotiator', accessTokenTTL: 3600,
  accessTokenFormat: FORMAT, jwt: { sign: { alg: 'ES256' } },
};
const provider = new Provider(`http://127.0.0.1:${PORT}`, {
  ...(STORE === 'sqlite' ? { adapter: sqliteAdapter() } : {}),
  clients: [{
    client_id: CLIENT, client_secret: SECRET, grant_types: ['client_credentials'], redirect_uris: [],
    response_types: [], token_endpoint_auth_method: 'client_secret_basic',
  }],
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'k1' }] },
  scopes: [SCOPE],
  cookies: { keys: ['benchmark'] },
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true, defaultResource: () => 'urn:negotiator', getResourceServerInfo: () => resource,
    },
  },
});
provider.on('server_error', (_context, error) => console.error(error));
provider.listen(Number(PORT), '127.0.0.1');
