"""Rate limits: `budgets` is what they mean and the headers that tell of them, `places` is where what is left is kept.

A budget refills as GCRA does (ITU-T I.371); one number a key is all that is kept. Which place is chosen follows from
the settings (docs/decisions/0004-limits.md). Neighbours: `edge` charges every call; `store` holds the table `budgets`.
"""
