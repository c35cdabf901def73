"""Buses that reach other processes: datagrams on one machine, Redis, or PostgreSQL's NOTIFY.

All of them tell this process first, by `streams.bus.Here`, and the others when they can: a word may be lost, and who
follows looks again by himself. `word` is what goes over, `sending` how it goes without anybody waiting for it.
"""
