"""How strong each side is, in numbers: zone of agreement, power, solution points and concessions.

`assess_leverage` puts the parts together. The package computes only: it has no paths, no tables and no web.
"""
