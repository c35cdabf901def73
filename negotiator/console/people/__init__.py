"""Sign-in, the account, and the pages on which agents are approved and watched."""
