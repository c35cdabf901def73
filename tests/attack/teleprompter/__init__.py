"""Attacks on the live socket: frames, origins, tickets, tokens that end, somebody else's session."""
