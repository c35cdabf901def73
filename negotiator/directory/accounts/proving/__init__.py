"""How an agent is asked to prove its identity: what it claims, what it was asked, the mail that carries a code.

`identity` reads what is claimed and believes none of it, `challenges` keeps the newest question with its tries,
`mailing` writes to mailboxes. Statements that are signed are judged by `signing` next door.
"""
