"""How people get in: by password, by the link that makes the first user, by their organisation's OpenID provider.

Each ends in `visitor.Visitors.sign_in`, which begins the session. Accounts are kept by `users`.
"""
