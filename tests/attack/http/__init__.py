"""Attacks on the transport: endless headers, slow clients, crowds of connections, input that makes parsers slow."""
