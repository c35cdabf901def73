"""The tactic catalogue: what a negotiator can do, what the other side is doing, and what fits now.

`catalogue` reads the built-in tactics (`built_in/*.toml`, one file per family, with their sources in `sources.toml`);
`recognition` recognises moves in talk by the phrases of `recognition_phrases/*.toml` (`phrases`) and, where there are
sentence vectors, by a classifier (`sentence_classifier`) that learned from the sentences of
`recognition_examples/*.toml` (`examples`); `facts` defines the facts of a situation; `ranking` turns them into a short
list with reasons and a few sentences. There is no database, web framework or clock here. Private figures
(walk-away, value of the alternative, weights) are not part of a `TacticSituation`, so they cannot appear in a sentence
that is meant to be spoken.
"""
