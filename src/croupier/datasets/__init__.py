"""Synthetic people to try a shuffle on, made by a seed, one community a file."""
