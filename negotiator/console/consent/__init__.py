"""Where a user lets a client in: the authorization endpoint with its page, and whom he let in, for the Agents page.

`authorize` is `/oauth/authorize` and the page's form, `connections` what the Agents page lists and ends. What is asked,
kept and handed out is `tokens.flow`'s; who asks whom is decided here. Owns no table.
"""
