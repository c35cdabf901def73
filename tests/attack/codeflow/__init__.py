"""The code flow under attack (RFC 9700 §4): codes, redirects, refresh tokens, the page, and documents of strangers."""
