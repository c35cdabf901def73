"""Recall judged: `facts` and `lessons` are the material, `corpus` makes memories and questions of it, `measure` counts."""
