"""`negotiator demo`: a negotiation told in short, or every request of five chapters; every step checks its answer.

`command` runs the `chapters`; `context` is what they share and how they print; `server` starts the servers and runs the
operator's commands; `examples` fills a database to look at.
"""
