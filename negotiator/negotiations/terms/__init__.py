"""What a negotiation is about, as pure values: read from a body, checked as a whole, shown again.

`reading` turns a body into `Terms` or every field error (`checks`); `view` shows them; `guard` holds a package against
the walk-away, the constraints and the authority; `facts` is what power rests on; `currencies` is ISO 4217. Neighbours:
`preferences` below, the sessions and the ledger above. No web, no database.
"""
