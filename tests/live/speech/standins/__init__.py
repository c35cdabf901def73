"""Packages that stand in for optional engines; this folder itself is put on the path of the workers."""
