"""The next move: accept, counter or walk away, from one description of the talk.

Owns the arithmetic between a `Situation` and a `Move`: what the other side seems to want
(`opponent`), how much to ask now (`target`), which package asks it (`offers`), and whether what
is on the table is enough (`acceptance`); `move.next_move` puts them together. Everything is pure
and stateless: the same situation gives the same move, and no move lies below the floor. The
routes next door validate what comes in and give what goes out its wire form.
"""
