"""How well the cue cards answer wordings they were not written from."""
