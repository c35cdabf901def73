"""Battle plans: what to aim for, how to open, how to concede, when to leave, and what to say.

`generator` builds a plan from a `brief` over the `admissible_packages`; `concession_path` and the `*_sections` modules
make its parts, `case_template` holds what is usual in a kind of negotiation, `evidence` defines what it may cite,
`checks` verifies it, `markdown` prints it. Memories, benchmarks and directory entries reach the brief as plain values.
"""
