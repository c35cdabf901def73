"""`negotiator demo`: the whole journey, narrated, against a real server; every step checks what it shows.

`command` is the command, `journey` what the chapters share, `narrator` how it is told, `server` the server and
the operator's commands, `provider` a real identity provider. A chapter is one function in `chapters`, named in
the list of `command`; a later slice adds its own there.
"""
