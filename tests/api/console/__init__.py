"""The pages for people, through the ASGI application, as a browser that runs no script would see them."""
