"""Those who follow a session: woken by a bus, told from the numbered events, on whatever worker they are.

`bus` says that something happened and carries what has no number; `following` turns a session into what one viewer is
to be told; `sse` writes that as an event stream. Neighbours: `sessions` (the truth).
"""
