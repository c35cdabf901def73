"""The pages of the directory, its collections and its submissions."""
