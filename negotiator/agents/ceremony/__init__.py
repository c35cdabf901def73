"""auth.md's newer generation on its own path: an identity first, tokens for it after (identity.md §2.3).

The same registration, codes and approvals as the seed's door, in other words: `claim_tokens` are what an agent that
nobody claimed yet proves itself by, `identities` are what it is given, `asserting` is how both doors take a signed
assertion, `routes` and `schemas` speak HTTP. Paths: `/api/agent/identity` and its `/claim` and `/claim/complete`.
"""
