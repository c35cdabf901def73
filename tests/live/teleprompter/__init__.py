"""Sockets of a real server with several workers: over every bus, over bad networks, over the death of a worker."""
