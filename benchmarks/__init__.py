"""Benchmarks; `python -m benchmarks` compares us with our peers."""
