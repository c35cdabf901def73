"""The standard endpoints' machinery: the one folder that imports Authlib's server (docs/decisions/0006-authlib.md).

`server` is one server for one request in one transaction; `grants` and `flow` are what the token endpoint redeems;
`endpoints` revoke and describe tokens; `presented` is an assertion that was verified before. Owns no table.
"""
