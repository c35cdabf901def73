"""What the other side says in a message: which figures it has and whose, what is offered, asked, accepted or refused.

Three linear models read it (`model.npz`): which issue a figure is a value of, what kind of figure it is, and what a
sentence does. They are trained on marked messages of our own (`tests/quality/messages`). No import of a database or web
server.
"""
