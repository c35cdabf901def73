"""Contract §5, rule by rule."""
