"""The seed and the contract, black box: HTTP against the application, and the command line.

`requirements` is the manifest: every rule by id, with its source. A test cites what it proves with `covers`; no rule
without a test, no test of a rule that does not exist (`test_manifest`).
"""
