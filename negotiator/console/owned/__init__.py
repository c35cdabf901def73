"""The pages of memories, results and tactics."""
