"""Words and what is asked for with them: `words` makes terms of text, `synonyms` knows other words for the same thing,
`repair` mends spelling, `sounds` tells what sounds alike, `plan` turns a query into units. Pure; neighbours `held`,
which keeps what tools say.
"""
