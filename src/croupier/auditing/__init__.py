"""Attempts to refute claims about mechanisms, shufflers and plans."""
