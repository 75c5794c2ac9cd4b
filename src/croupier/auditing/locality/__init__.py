"""The preservation of local information by Mallows orders."""
