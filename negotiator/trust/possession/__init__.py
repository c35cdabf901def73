"""Proof of possession (DPoP, RFC 9449): whether whoever sends a request holds the key that a token is bound to.

`proofs` believes one proof by its own text, and knows no store; `checking` adds what takes one: each proof counts
once, and carries our nonce where the operator wants that. The guard, the token endpoint and registration ask here.
"""
