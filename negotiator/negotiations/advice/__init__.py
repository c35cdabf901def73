"""Advice from the engines: leverage and the next move, for a stored negotiation or a described one.

`situations` maps terms and a ledger to what `leverage` takes, `turns` to what `strategy` takes; `wire` gives results
their JSON form. The engines need numpy and are imported where they are called, off the event loop, so that a worker
that never advises stays small.
"""
