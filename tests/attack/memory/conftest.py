"""Notebooks, with the embedder that needs no model."""

from tests.helpers.memory_client import hashing_embedder as hashing_embedder
from tests.helpers.memory_client import memory_client as memory_client
from tests.helpers.memory_client import new_memory_client as new_memory_client
from tests.helpers.memory_client import use_hashing_embedder as use_hashing_embedder
