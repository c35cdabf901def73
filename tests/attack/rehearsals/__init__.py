"""Attacks on rehearsals: the counterpart's limit stays its own until the end."""
