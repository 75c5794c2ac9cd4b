"""The first page: ten questions of a reader who knows none of our words, and their answers."""
