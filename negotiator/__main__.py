"""`python -m negotiator` is the `negotiator` command."""

from negotiator.cli import main

main()
