"""Readers of hostile text, all of them pure.

`claims` is for single claims and the reasons to refuse them, `rules` for what claims must say
together, `addresses` for where a name may lead; JSON and base64url come from `negotiator.strict`,
which request bodies share. The keys, the fetches and the verifier above (`trust`) are built on them.
"""
