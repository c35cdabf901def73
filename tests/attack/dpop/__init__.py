"""Attacks on proof of possession (RFC 9449)."""
