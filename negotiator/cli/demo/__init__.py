"""`negotiator demo`: a narrated run through the whole API of a real server; every step checks its answer.

`command` runs the chapters in order; `context` is shared by all chapters, `printer` prints them, `server` starts a
server and runs the operator's commands, `identity_provider` signs real assertions. Each `*_chapter` and `*_chapters`
module defines chapters, which `command` lists. `example_database` fills a database to look at with the
`example_cases`.
"""
