"""What advice says, as content: sentences with their conditions in Jinja templates, tables of texts in TOML.

`sentences` reads both. The small pieces of English that they are made of are in `negotiator.terms.plain_text` and
`negotiator.terms.wording`.
"""
