"""Searches for false numbers: proved bounds against exact enumeration in integers."""
