CREATE TABLE access_tokens (
    jti VARCHAR NOT NULL,
    client_id VARCHAR NOT NULL,
    user_id VARCHAR,
    issuer VARCHAR,
    identity VARCHAR,
    "authorization" VARCHAR,
    "key" VARCHAR,
    scope VARCHAR NOT NULL,
    resource VARCHAR NOT NULL,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    PRIMARY KEY (jti)
) WITHOUT ROWID;
CREATE INDEX ix_access_tokens_expires_at ON access_tokens (expires_at);
CREATE INDEX ix_access_tokens_user_id ON access_tokens (user_id, issued_at) WHERE user_id IS NOT NULL;

CREATE TABLE agent_calls (
    agent VARCHAR NOT NULL,
    operation VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    error VARCHAR NOT NULL,
    at BIGINT NOT NULL,
    count INTEGER NOT NULL,
    description VARCHAR NOT NULL,
    needs VARCHAR NOT NULL,
    PRIMARY KEY (agent, operation, subject, error)
) WITHOUT ROWID;

CREATE TABLE agents (
    id VARCHAR NOT NULL,
    service VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    identity_type VARCHAR NOT NULL,
    identity_value VARCHAR NOT NULL,
    contact_email VARCHAR,
    scope VARCHAR NOT NULL,
    user_id VARCHAR,
    issuer VARCHAR,
    claim_attempts INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    claimed_at BIGINT,
    vetted_at BIGINT,
    expires_at BIGINT,
    revoked_at BIGINT,
    seen_at BIGINT,
    PRIMARY KEY (id)
) WITHOUT ROWID;
CREATE INDEX ix_agents_expires_at ON agents (expires_at);
CREATE INDEX ix_agents_user_id ON agents (user_id);

CREATE TABLE api_keys (
    id VARCHAR NOT NULL,
    client_id VARCHAR NOT NULL,
    digest VARCHAR NOT NULL,
    created_at BIGINT NOT NULL,
    retired_at BIGINT,
    expires_at BIGINT,
    revoked_at BIGINT,
    last_used_at BIGINT,
    last_used_from VARCHAR,
    PRIMARY KEY (id)
);
CREATE INDEX ix_api_keys_client_id ON api_keys (client_id);
CREATE INDEX ix_api_keys_expires_at ON api_keys (expires_at);
CREATE INDEX ix_api_keys_revoked_at ON api_keys (revoked_at);

CREATE TABLE approvals (
    id VARCHAR NOT NULL,
    digest VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    email VARCHAR NOT NULL,
    identity VARCHAR NOT NULL,
    issuer VARCHAR NOT NULL,
    agent_id VARCHAR NOT NULL,
    agent_name VARCHAR NOT NULL,
    attempts INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    decided_at BIGINT,
    PRIMARY KEY (id),
    UNIQUE (digest)
);
CREATE INDEX ix_approvals_expires_at ON approvals (expires_at);

CREATE TABLE audit_events (
    id VARCHAR NOT NULL,
    at BIGINT NOT NULL,
    event VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    actor VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    PRIMARY KEY (id)
) WITHOUT ROWID;

CREATE TABLE authorizations (
    id VARCHAR NOT NULL,
    client_id VARCHAR NOT NULL,
    user_id VARCHAR NOT NULL,
    issuer VARCHAR,
    identity VARCHAR,
    scope VARCHAR NOT NULL,
    resource VARCHAR NOT NULL,
    redirect_uri VARCHAR NOT NULL,
    nonce VARCHAR NOT NULL,
    challenge VARCHAR NOT NULL,
    "key" VARCHAR,
    code_digest VARCHAR NOT NULL,
    code_expires_at BIGINT NOT NULL,
    code_used_at BIGINT,
    auth_time BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    renewed_at BIGINT,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (code_digest)
);
CREATE INDEX ix_authorizations_expires_at ON authorizations (expires_at);
CREATE INDEX ix_authorizations_user_id_client_id ON authorizations (user_id, client_id);

CREATE TABLE battle_plans (
    id VARCHAR NOT NULL,
    negotiation VARCHAR NOT NULL,
    owner VARCHAR NOT NULL,
    version INTEGER NOT NULL,
    made_from INTEGER NOT NULL,
    worded_by VARCHAR NOT NULL,
    document BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE UNIQUE INDEX ix_battle_plans_negotiation_version ON battle_plans (negotiation, version);
CREATE INDEX ix_battle_plans_owner ON battle_plans (owner);

CREATE TABLE budgets (
    "key" VARCHAR NOT NULL,
    arrival BIGINT NOT NULL,
    PRIMARY KEY ("key")
);
CREATE INDEX ix_budgets_arrival ON budgets (arrival);

CREATE TABLE clients (
    id VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    secret_digest VARCHAR NOT NULL,
    auth_method VARCHAR NOT NULL,
    jwks VARCHAR,
    jwks_uri VARCHAR,
    grants VARCHAR NOT NULL,
    scope VARCHAR NOT NULL,
    redirect_uris VARCHAR NOT NULL,
    origin VARCHAR NOT NULL,
    uri VARCHAR NOT NULL,
    id_token_alg VARCHAR NOT NULL,
    created_at BIGINT NOT NULL,
    used_at BIGINT,
    removed_at BIGINT,
    PRIMARY KEY (id)
);
CREATE INDEX ix_clients_unused ON clients (origin, used_at, created_at);

CREATE TABLE collection_counts_due (
    tool VARCHAR NOT NULL,
    PRIMARY KEY (tool)
);

CREATE TABLE collection_items (
    collection VARCHAR NOT NULL,
    tool VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    note VARCHAR NOT NULL,
    added_at BIGINT NOT NULL,
    PRIMARY KEY (collection, tool)
) WITHOUT ROWID;
CREATE INDEX ix_collection_items_tool ON collection_items (tool);

CREATE TABLE collections (
    id VARCHAR NOT NULL,
    owner VARCHAR NOT NULL,
    origin VARCHAR,
    name VARCHAR NOT NULL,
    description VARCHAR NOT NULL,
    visibility VARCHAR NOT NULL,
    share VARCHAR,
    size INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX ix_collections_owner_id ON collections (owner, id);
CREATE UNIQUE INDEX ix_collections_share ON collections (share);

CREATE TABLE consents (
    user_id VARCHAR NOT NULL,
    client_id VARCHAR NOT NULL,
    client_name VARCHAR NOT NULL,
    place VARCHAR NOT NULL,
    scope VARCHAR NOT NULL,
    remembered VARCHAR NOT NULL,
    auth_method VARCHAR,
    granted_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, client_id)
) WITHOUT ROWID;

CREATE TABLE cue_examples (
    id VARCHAR NOT NULL,
    owner VARCHAR NOT NULL,
    origin VARCHAR,
    cue VARCHAR NOT NULL,
    against VARCHAR NOT NULL,
    weight FLOAT NOT NULL,
    model VARCHAR NOT NULL,
    vector BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX ix_cue_examples_owner_id ON cue_examples (owner, id);

CREATE TABLE fingerprints (
    name VARCHAR NOT NULL,
    value VARCHAR NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE idempotency_keys (
    caller VARCHAR NOT NULL,
    "key" VARCHAR NOT NULL,
    request VARCHAR NOT NULL,
    answer BYTEA NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (caller, "key")
);
CREATE INDEX ix_idempotency_keys_expires_at ON idempotency_keys (expires_at);

CREATE TABLE leases (
    job VARCHAR NOT NULL,
    holder VARCHAR NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (job)
);

CREATE TABLE mails (
    id VARCHAR NOT NULL,
    recipient VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    text BYTEA NOT NULL,
    attempts INTEGER NOT NULL,
    next_at BIGINT NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX ix_mails_next_at ON mails (next_at);
CREATE INDEX ix_mails_recipient ON mails (recipient);

CREATE TABLE memories (
    id VARCHAR NOT NULL,
    owner VARCHAR NOT NULL,
    origin VARCHAR,
    stamp BIGINT NOT NULL,
    kind VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    category VARCHAR,
    counterparty VARCHAR,
    negotiation VARCHAR,
    trust INTEGER NOT NULL,
    pinned BOOLEAN NOT NULL,
    digest VARCHAR NOT NULL,
    expires_at BIGINT,
    document BYTEA NOT NULL,
    model VARCHAR NOT NULL,
    vector BYTEA NOT NULL,
    revision INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE UNIQUE INDEX ix_memories_owner_digest ON memories (owner, digest) WHERE status in ('active', 'pending');
CREATE INDEX ix_memories_owner_id ON memories (owner, id);
CREATE INDEX ix_memories_owner_stamp ON memories (owner, stamp);

CREATE TABLE memory_owners (
    owner VARCHAR NOT NULL,
    stamp BIGINT NOT NULL,
    removed BIGINT NOT NULL,
    PRIMARY KEY (owner)
);

CREATE TABLE memory_versions (
    memory VARCHAR NOT NULL,
    revision INTEGER NOT NULL,
    owner VARCHAR NOT NULL,
    at BIGINT NOT NULL,
    actor VARCHAR NOT NULL,
    change VARCHAR NOT NULL,
    before BYTEA NOT NULL,
    PRIMARY KEY (memory, revision)
);
CREATE INDEX ix_memory_versions_owner ON memory_versions (owner);

CREATE TABLE negotiation_events (
    negotiation VARCHAR NOT NULL,
    seq INTEGER NOT NULL,
    at BIGINT NOT NULL,
    document BYTEA NOT NULL,
    PRIMARY KEY (negotiation, seq)
) WITHOUT ROWID;

CREATE TABLE negotiations (
    id VARCHAR NOT NULL,
    owner VARCHAR NOT NULL,
    origin VARCHAR,
    category VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    search VARCHAR NOT NULL,
    request BYTEA NOT NULL,
    terms BYTEA NOT NULL,
    progress BYTEA NOT NULL,
    document BYTEA NOT NULL,
    offers INTEGER NOT NULL,
    events INTEGER NOT NULL,
    due_at BIGINT,
    revision INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX ix_negotiations_due_at ON negotiations (due_at);
CREATE INDEX ix_negotiations_owner_id ON negotiations (owner, id);

CREATE TABLE offers (
    id VARCHAR NOT NULL,
    negotiation VARCHAR NOT NULL,
    seq INTEGER NOT NULL,
    at BIGINT NOT NULL,
    side VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    answers VARCHAR,
    confirms VARCHAR,
    valid_until BIGINT,
    approval VARCHAR NOT NULL,
    document BYTEA NOT NULL,
    PRIMARY KEY (id)
);
CREATE UNIQUE INDEX ix_offers_negotiation_seq ON offers (negotiation, seq);

CREATE TABLE refresh_tokens (
    digest VARCHAR NOT NULL,
    "authorization" VARCHAR NOT NULL,
    "key" VARCHAR,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (digest)
) WITHOUT ROWID;
CREATE INDEX ix_refresh_tokens_authorization ON refresh_tokens ("authorization");
CREATE INDEX ix_refresh_tokens_expires_at ON refresh_tokens (expires_at);

CREATE TABLE rehearsals (
    id VARCHAR NOT NULL,
    negotiation VARCHAR NOT NULL,
    owner VARCHAR NOT NULL,
    seed BIGINT NOT NULL,
    state VARCHAR NOT NULL,
    terms BYTEA NOT NULL,
    person BYTEA NOT NULL,
    progress BYTEA NOT NULL,
    result BYTEA NOT NULL,
    revision INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX ix_rehearsals_negotiation_id ON rehearsals (negotiation, id);
CREATE INDEX ix_rehearsals_owner ON rehearsals (owner);

CREATE TABLE revocations (
    subject VARCHAR NOT NULL,
    "before" BIGINT NOT NULL,
    forget_at BIGINT,
    PRIMARY KEY (subject)
);
CREATE INDEX ix_revocations_forget_at ON revocations (forget_at);

CREATE TABLE schema_floor (
    oldest VARCHAR NOT NULL,
    PRIMARY KEY (oldest)
);

CREATE TABLE signing_keys (
    kid VARCHAR NOT NULL,
    made_at BIGINT NOT NULL,
    wrapped BYTEA NOT NULL,
    PRIMARY KEY (kid)
);

CREATE TABLE spent (
    kind VARCHAR NOT NULL,
    value VARCHAR NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (kind, value)
) WITHOUT ROWID;
CREATE INDEX ix_spent_expires_at ON spent (expires_at);

CREATE TABLE submission_keys (
    kind VARCHAR NOT NULL,
    value VARCHAR NOT NULL,
    submission VARCHAR NOT NULL,
    PRIMARY KEY (kind, value, submission)
) WITHOUT ROWID;
CREATE INDEX ix_submission_keys_submission ON submission_keys (submission);

CREATE TABLE submissions (
    id VARCHAR NOT NULL,
    owner VARCHAR NOT NULL,
    origin VARCHAR,
    agent VARCHAR NOT NULL,
    type VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    tool VARCHAR,
    proposed BYTEA NOT NULL,
    checks BYTEA NOT NULL,
    alike BYTEA NOT NULL,
    reason VARCHAR,
    note VARCHAR NOT NULL,
    appeal VARCHAR NOT NULL,
    revision INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    expires_at BIGINT,
    proven_host VARCHAR,
    PRIMARY KEY (id)
);
CREATE INDEX ix_submissions_expires_at ON submissions (expires_at);
CREATE INDEX ix_submissions_owner_id ON submissions (owner, id);
CREATE INDEX ix_submissions_status_id ON submissions (status, id);
CREATE INDEX ix_submissions_tool ON submissions (tool);

CREATE TABLE tactics (
    id VARCHAR NOT NULL,
    owner VARCHAR NOT NULL,
    origin VARCHAR,
    document BYTEA NOT NULL,
    revision INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX ix_tactics_owner_id ON tactics (owner, id);

CREATE TABLE teleprompter_events (
    session VARCHAR NOT NULL,
    seq INTEGER NOT NULL,
    type VARCHAR NOT NULL,
    utterance VARCHAR,
    body BYTEA NOT NULL,
    PRIMARY KEY (session, seq)
) WITHOUT ROWID;
CREATE INDEX ix_teleprompter_events_utterance ON teleprompter_events (session, utterance);

CREATE TABLE teleprompter_sessions (
    id VARCHAR NOT NULL,
    owner VARCHAR NOT NULL,
    origin VARCHAR,
    negotiation VARCHAR,
    state VARCHAR NOT NULL,
    given BYTEA NOT NULL,
    screen BYTEA NOT NULL,
    seq INTEGER NOT NULL,
    producer VARCHAR NOT NULL,
    heard_ms BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    active_at BIGINT NOT NULL,
    ended_at BIGINT,
    ends_at BIGINT,
    forget_at BIGINT,
    PRIMARY KEY (id)
);
CREATE INDEX ix_teleprompter_sessions_ends_at ON teleprompter_sessions (ends_at);
CREATE INDEX ix_teleprompter_sessions_forget_at ON teleprompter_sessions (forget_at);
CREATE INDEX ix_teleprompter_sessions_owner_id ON teleprompter_sessions (owner, id);

CREATE TABLE teleprompter_tickets (
    digest VARCHAR NOT NULL,
    session VARCHAR NOT NULL,
    owner VARCHAR NOT NULL,
    caller BYTEA NOT NULL,
    origin VARCHAR NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (digest)
) WITHOUT ROWID;
CREATE INDEX ix_teleprompter_tickets_expires_at ON teleprompter_tickets (expires_at);
CREATE INDEX ix_teleprompter_tickets_owner ON teleprompter_tickets (owner);

CREATE TABLE tool_changes (
    seq BIGSERIAL NOT NULL,
    tool VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    slug VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    revision INTEGER NOT NULL,
    actor VARCHAR NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (seq)
) WITHOUT ROWID;
CREATE INDEX ix_tool_changes_tool ON tool_changes (tool);

CREATE TABLE tool_keys (
    kind VARCHAR NOT NULL,
    value VARCHAR NOT NULL,
    tool VARCHAR NOT NULL,
    PRIMARY KEY (kind, value, tool)
) WITHOUT ROWID;
CREATE INDEX ix_tool_keys_tool ON tool_keys (tool);

CREATE TABLE tool_reports (
    id VARCHAR NOT NULL,
    tool VARCHAR NOT NULL,
    reporter VARCHAR NOT NULL,
    voice VARCHAR NOT NULL,
    weight INTEGER NOT NULL,
    reason VARCHAR NOT NULL,
    details VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX ix_tool_reports_reporter_created_at ON tool_reports (reporter, created_at);
CREATE INDEX ix_tool_reports_tool_status ON tool_reports (tool, status);

CREATE TABLE tool_slugs (
    slug VARCHAR NOT NULL,
    tool VARCHAR NOT NULL,
    PRIMARY KEY (slug)
) WITHOUT ROWID;

CREATE TABLE tools (
    id VARCHAR NOT NULL,
    slug VARCHAR NOT NULL,
    external_id VARCHAR,
    status VARCHAR NOT NULL,
    saves INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    revision INTEGER NOT NULL,
    document BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (slug)
);
CREATE UNIQUE INDEX ix_tools_external_id ON tools (external_id);
CREATE UNIQUE INDEX ix_tools_seq ON tools (seq);

CREATE TABLE trusted_issuers (
    issuer VARCHAR NOT NULL,
    algorithms VARCHAR NOT NULL,
    jwks VARCHAR NOT NULL,
    jwks_uri VARCHAR NOT NULL,
    clients VARCHAR NOT NULL,
    scope VARCHAR NOT NULL,
    email_domains VARCHAR NOT NULL,
    email_verifier INTEGER NOT NULL,
    max_auth_age INTEGER,
    tenanted INTEGER NOT NULL,
    added_at BIGINT NOT NULL,
    removed_at BIGINT,
    PRIMARY KEY (issuer)
);

CREATE TABLE users (
    id VARCHAR NOT NULL,
    email VARCHAR,
    name VARCHAR NOT NULL,
    password_hash VARCHAR NOT NULL,
    is_admin INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    disabled_at BIGINT,
    PRIMARY KEY (id),
    UNIQUE (email)
);

CREATE TABLE wins (
    id VARCHAR NOT NULL,
    owner VARCHAR NOT NULL,
    origin VARCHAR,
    negotiation VARCHAR,
    counterparty VARCHAR,
    category VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    side VARCHAR NOT NULL,
    currency VARCHAR NOT NULL,
    closed_at BIGINT NOT NULL,
    rate VARCHAR NOT NULL,
    weight VARCHAR NOT NULL,
    rounds INTEGER,
    days INTEGER,
    contributed BOOLEAN NOT NULL,
    memory VARCHAR,
    document BYTEA NOT NULL,
    revision INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX ix_wins_contributed ON wins (contributed, category, side, currency);
CREATE INDEX ix_wins_owner_id ON wins (owner, id);
CREATE UNIQUE INDEX ix_wins_owner_negotiation ON wins (owner, negotiation);

CREATE TABLE browser_sessions (
    id VARCHAR NOT NULL,
    digest VARCHAR NOT NULL,
    user_id VARCHAR NOT NULL,
    issuer VARCHAR,
    identity VARCHAR,
    browser VARCHAR NOT NULL,
    address VARCHAR NOT NULL,
    signed_in_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (digest),
    FOREIGN KEY(user_id) REFERENCES users (id)
);
CREATE INDEX ix_browser_sessions_expires_at ON browser_sessions (expires_at);
CREATE INDEX ix_browser_sessions_seen_at ON browser_sessions (seen_at);
CREATE INDEX ix_browser_sessions_user_id ON browser_sessions (user_id);

CREATE TABLE delegations (
    id VARCHAR NOT NULL,
    digest VARCHAR NOT NULL,
    user_id VARCHAR NOT NULL,
    agent_id VARCHAR,
    label VARCHAR NOT NULL,
    scope VARCHAR NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    used_by VARCHAR,
    revoked_at BIGINT,
    PRIMARY KEY (id),
    UNIQUE (digest),
    FOREIGN KEY(user_id) REFERENCES users (id)
);
CREATE INDEX ix_delegations_agent_id ON delegations (agent_id);
CREATE INDEX ix_delegations_user_id ON delegations (user_id);

CREATE TABLE directory_challenges (
    id VARCHAR NOT NULL,
    agent_id VARCHAR NOT NULL,
    method VARCHAR NOT NULL,
    nonce VARCHAR NOT NULL,
    code_digest VARCHAR,
    attempts INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (id),
    UNIQUE (agent_id),
    FOREIGN KEY(agent_id) REFERENCES agents (id)
);
CREATE INDEX ix_directory_challenges_expires_at ON directory_challenges (expires_at);

CREATE TABLE directory_proofs (
    type VARCHAR NOT NULL,
    value VARCHAR NOT NULL,
    agent_id VARCHAR NOT NULL,
    thumbprint VARCHAR NOT NULL,
    proven_at BIGINT NOT NULL,
    checked_at BIGINT NOT NULL,
    failures INTEGER NOT NULL,
    PRIMARY KEY (type, value),
    UNIQUE (agent_id),
    FOREIGN KEY(agent_id) REFERENCES agents (id)
);
CREATE INDEX ix_directory_proofs_checked_at ON directory_proofs (checked_at);

CREATE TABLE identities (
    "key" VARCHAR NOT NULL,
    issuer VARCHAR NOT NULL,
    user_id VARCHAR NOT NULL,
    linked_at BIGINT NOT NULL,
    PRIMARY KEY ("key"),
    FOREIGN KEY(user_id) REFERENCES users (id)
);
CREATE INDEX ix_identities_user_id ON identities (user_id);

CREATE TABLE passkeys (
    id VARCHAR NOT NULL,
    user_id VARCHAR NOT NULL,
    credential_id VARCHAR NOT NULL,
    public_key VARCHAR NOT NULL,
    sign_count BIGINT NOT NULL,
    is_synced INTEGER NOT NULL,
    name VARCHAR NOT NULL,
    created_at BIGINT NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (id),
    FOREIGN KEY(user_id) REFERENCES users (id),
    UNIQUE (credential_id)
);
CREATE INDEX ix_passkeys_user_id ON passkeys (user_id);
