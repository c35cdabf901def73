"""How one gets at a session's socket: its operation, which plain HTTP is told to upgrade, and tickets for browsers.

Paths: `GET /api/teleprompter/sessions/{id}/stream`, `POST …/{id}/tickets`. Owns the table `teleprompter_tickets`.
Neighbour: `streams.socket`, which takes the tickets.
"""
