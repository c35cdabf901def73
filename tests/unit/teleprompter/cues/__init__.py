"""Cues: the catalogue, the rules, the head, the policy."""
