"""From a brief to a plan, without web, database or clock.

`advice` and `words` make the sections, `plan` puts them together and `checks` refuses a plan that breaks its own rules.

A number in a plan is a figure, `{"value": …, "source": …}`. The source is one of `session:<pointer>` (a member of the
negotiation), `offer:<seq>` (a row of its ledger), `leverage:<pointer>` (the leverage answer), `memory:<id>`,
`benchmark:<id>`, or `engine:<rule>`, a rule that the plan's own `sources` spells out. A number inside a sentence
repeats a figure of the same plan, or words that somebody wrote into the negotiation.
"""
