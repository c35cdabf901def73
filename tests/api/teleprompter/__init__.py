"""The teleprompter through the ASGI application."""
