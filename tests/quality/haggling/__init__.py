"""The scripted people and the cases of `tests/bench/haggling` are what its measurements take them for."""
