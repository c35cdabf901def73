"""The wire contract (`docs/contract`), tested from outside: HTTP against the application, and the command line.

`requirements` is the manifest: every rule by key. A test names the rules that it proves with `covers`; every rule has a
test, and every rule that a test names exists (`test_manifest`).
"""
