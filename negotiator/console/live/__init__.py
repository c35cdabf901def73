"""The pages of a call and of a rehearsal."""
