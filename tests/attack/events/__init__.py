"""Attacks on the receiver of security events (RFC 8935, RFC 8417)."""
