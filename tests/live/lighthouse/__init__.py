"""Lighthouse, Google's audit of pages, against the console: `make lighthouse`."""
