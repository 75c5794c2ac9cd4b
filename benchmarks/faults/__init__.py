"""Harnesses that break the running service in every known way, and count lost reports."""
