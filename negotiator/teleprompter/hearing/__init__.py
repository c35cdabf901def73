"""What one utterance means beyond its phrases: figures against the limits, the ledger, memories, one's own head.

`ear` joins it all: everything that has to be asked is asked before a transaction (`Ear.listen`), the rest is pure or a
unit. `limits` reads what the bound negotiation can live with, `ledger` enters what was heard as unconfirmed offers,
`cards` makes cards of memories and of the plan, `heads` keeps each owner's head, taught by feedback (`examples`; owns
the table `cue_examples`). Limits come from the negotiation's terms and from nothing that was said or remembered.
Neighbours: `cues`, `figures`, `privacy` (pure, below), `sessions` (above).
"""
