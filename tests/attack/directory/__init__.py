"""Attacks on the directory: forged proofs, guessed keys, borrowed names, a mail cannon, our own fetches, queries."""
