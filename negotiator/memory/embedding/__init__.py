"""Sentence vectors of unit length: texts of similar meaning lie close together.

`embedder` has the base class and the built-in hashing embedder; `minilm_embedder` runs a local model that
`minilm_export` prepares, and chooses an embedder from the settings; `remote_embedder` calls an operator's endpoint.
Every vector is stored with its model's name, and vectors of two models are never compared.
"""
