"""What to do next, and why: pure functions of the terms and the talk so far, with the words to say it.

`leverage` measures how strong each side is, `concession` finds the path and the next step with a person, `strategy`
plays against a program, `tactics` knows what fits and what the other side does, `plans` puts a battle plan together.
`advisor` may word the advice by a language model; `forecast` and `expected_price` say where the price will end.
"""
