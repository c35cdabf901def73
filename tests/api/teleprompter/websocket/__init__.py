"""The socket through the ASGI application."""
