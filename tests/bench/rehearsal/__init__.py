"""Measures of rehearsals: how well the score measures, and whether the counterpart bargains as people do."""
