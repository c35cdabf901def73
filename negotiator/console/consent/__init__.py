"""Where a user lets a client in: the authorization endpoint with its page, and the list of whom he let in.

`authorize` is `/oauth/authorize` and the page's form, `connections` the list. What is asked, kept and handed out is
`tokens.flow`'s; who asks whom is decided here. Owns no table.
"""
