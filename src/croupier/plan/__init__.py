"""The plan: one file that describes a collection."""
