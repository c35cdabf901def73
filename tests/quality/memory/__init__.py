"""Recall judged: `facts` and `lessons` are the material, `corpus` makes memories and questions, `measure` counts."""
