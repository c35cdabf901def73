"""The teleprompter's pure parts."""
