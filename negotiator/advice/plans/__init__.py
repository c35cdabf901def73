"""Battle plans: what to aim for, how to open, how to concede, when to leave, and what to say.

`generator` builds a plan from a `brief`. `basis` adds the concession path, the words and the case, the `*_sections`
modules make the parts, `case_template` holds what is usual in a kind of negotiation, `trades` finds trades between
issues, `evidence` defines what a plan may cite, `checks` verifies it, `markdown` prints it. Memories, benchmarks and
directory entries reach the brief as plain values.
"""
