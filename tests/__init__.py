"""The tests: `unit` pure files, `api` through the ASGI app, `contract` the two documents, `house` the rules, `live` real servers."""
