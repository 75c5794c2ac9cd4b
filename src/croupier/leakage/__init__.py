"""Leakage: tracing a report to its sender, telling values apart, guessing a value."""
