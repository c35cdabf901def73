"""Rehearsals: a negotiation played against a simulated counterpart, and the debrief of each."""
