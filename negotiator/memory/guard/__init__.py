"""What may be written into a memory, and by whom how far it is believed.

`texts` reads texts as people see them, `belief` says how far an author is believed and what repeats what, `suspicion`
recognises the crude attempts to speak to a model through a memory. Pure; `memories` above asks it about every write.
"""
