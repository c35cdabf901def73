"""How an agent proves its identity: by a signature of the key that the identity names, or by a code from its mailbox.

`identity` reads what is claimed, `multikey` and `published` find its keys, `signed` checks a statement, `challenges`
keeps what was asked, `mailing` writes to mailboxes, `rechecks` looks again later. Network comes before any unit.
"""
