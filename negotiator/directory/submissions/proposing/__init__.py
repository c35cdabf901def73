"""What stands between a request and a row: the quota, the names it is held against, the draft it comes to.

`quota` says how much one submitter may ask for, `naming` follows the names of the catalogue, `drafts` makes a draft
of a patch and a record of a draft. Neighbour: `deciding`, which calls all three.
"""
