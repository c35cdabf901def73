"""The server without a sentence model: its directory searches by words alone."""

from starlette.applications import Starlette

from negotiator.compose import app, directory
from negotiator.memory.embedding.embedder import Embedder, HashingEmbedder


def create_app() -> Starlette:
    """The application."""

    def no_model(*_: object, **__: object) -> Embedder:
        return HashingEmbedder("words alone are measured")

    directory.choose_embedder = no_model
    return app.create_app()
