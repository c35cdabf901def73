"""Attacks over HTTP, each beside a harmless twin that is accepted."""
