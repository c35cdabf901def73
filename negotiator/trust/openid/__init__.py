"""An organisation's OpenID provider, with which people sign in: discovery, the code's exchange, the ID token.

`provider` speaks to it, through the same vetted fetcher as everything else; `id_tokens` believes what it says of a
person. Who that person is here, `users.matching` decides; the browser's part is `console.entry.provider`.
"""
