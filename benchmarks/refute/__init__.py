"""Searches for a number that is false: what is proved against what is enumerated, in integers."""
