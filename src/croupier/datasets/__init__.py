"""Synthetic communities to try a shuffle on, generated from a seed, one per file."""
