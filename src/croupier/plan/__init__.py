"""The plan: what a collection does, in one file."""
