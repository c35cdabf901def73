"""Finding an owner's memories: by meaning, by words, by both.

Each owner's memories are a `shelf` of their own in this process: exact vectors and a keyword index, so that a search
costs what the owner has and never what the service has, and no statement could reach another owner's. `shelves` keeps
the ones in use and catches up by the owner's counter, which every worker reads; `ranking` fuses, `filters` chooses.
Pure but for `shelves`.
"""
