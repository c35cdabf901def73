"""The teleprompter, rule by rule (docs/contract 8)."""
