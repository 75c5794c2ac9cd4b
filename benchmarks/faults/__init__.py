"""Harnesses that break the running service in every way we know, and count what it loses."""
