"""Teleprompter sessions at rest: one call with its numbered events, and what happens to it.

The numbered events are the truth: whoever follows a session reads them from here, on whatever worker. What an
utterance means is found before a transaction (`hearing`); `moving` takes it into the session in one. Owns the tables
`teleprompter_sessions` and `teleprompter_events`. Neighbours: `cues` (what is shown), `privacy` (who may be heard, how
long it is kept), `streams` (those who follow).
"""
