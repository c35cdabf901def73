"""`negotiator demo`: a negotiation told in short, or a run through the whole API; every step checks its answer.

`story` tells one negotiation after the first chapters; `command` runs the chapters in order; `context` is shared by
all of them, `printer` prints them, `server` starts a server and runs the operator's commands, `identity_provider` signs
real assertions. Each `*_chapter` and `*_chapters` module
defines chapters, which `command` lists. `example_database` fills a database to look at with the `example_cases`.
"""
