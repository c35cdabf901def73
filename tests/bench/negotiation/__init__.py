"""The next move against public negotiators, and leverage against NegMAS; runs in an environment of its own."""
