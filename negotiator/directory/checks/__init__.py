"""What is looked at before a person looks: pure functions over a draft of a tool, no network and no database.

`links` are addresses nobody may list, `injection` is text written at models, `names` are likenesses, `owning` says
whether a proven identity is the tool's publisher, `verdict` puts the answers together. Neighbours: `record`, whose
drafts these look at, and `submissions`, which acts on what they say.
"""
