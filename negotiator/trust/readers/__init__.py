"""Readers of hostile text, all of them pure.

`strict` is for JSON and base64url, `claims` for single claims and the reasons to refuse them,
`rules` for what claims must say together, `addresses` for where a name may lead. The keys, the
fetches and the verifier above (`trust`) are built on them.
"""
