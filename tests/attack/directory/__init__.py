"""Attacks on the directory's own door: forged proofs, guessed keys, borrowed names, a mail cannon, our own fetches."""
