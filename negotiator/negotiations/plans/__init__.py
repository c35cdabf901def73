"""Battle plans: what to want, how to open, how to give, when to leave, and what to say.

`making` is the pure generator over the packages of `paths`, from the `brief`; `markdown` prints a plan; `kept` holds
its versions (table `battle_plans`); `routes` offers them under `/api/negotiations/{id}/battle-plans`. Neighbours:
terms, ledger and leverage of the same negotiation, `tactics` for the shelf, `advisor` for the wording. Memories,
benchmarks and directory entries come in through the brief as values: their owners need not be known here.
"""
