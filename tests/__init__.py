"""`unit` pure files, `api` through the ASGI app, `contract` the documents, `house` the rules, `live` real servers."""
