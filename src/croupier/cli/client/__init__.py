"""Commands of whoever sends reports."""
