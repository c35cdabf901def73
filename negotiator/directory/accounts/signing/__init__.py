"""Identities that are keys: how an agent's keys are found and its signed statement is judged.

`multikey` reads keys written into a DID, `published` fetches those an identity publishes, `signed` reads a statement
before any key is asked for, `thumbprints` names a key. Documents come through `trust.fetch` only.
"""
