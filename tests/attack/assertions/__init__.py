"""Assertions at both doors: forged, replayed, and after trust was withdrawn."""
