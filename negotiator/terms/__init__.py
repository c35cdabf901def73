"""What is negotiated: issues, units, preferences and limits, and how a body that names them is read.

`negotiation_body` and `schemas_terms` are the wire, `short_forms` what may be written shorter, `terms_parsing` makes
`terms` of it and `terms_view` the answer. `limits` says which packages the user may agree to. `wording` has the words
for values, packages and totals, with `issue_words`, `unit_price`, `voice` and `plain_text`.
"""
