"""The tactic shelf: what a negotiator can do, what the other side is doing, and what fits now.

Owns the built-in tactics (`shelf/*.toml`, one file per family, and the works they rest on in
`sources.toml`), the phrases by which a move is recognised in talk (`cues/*.toml`), and the ranking
that turns the facts of a negotiation into a short list with reasons. Everything here is pure: no
web, no database, no clock. Neighbours: `negotiations` derives a `TacticSituation` from its rows and
stores the user's own tactics; `teleprompter` feeds utterances to `recognise`; `memory` supplies the
user's results. Private figures (walk-away, value of the alternative, weights) never enter a
situation, so they cannot reach a line that is meant to be spoken.
"""
