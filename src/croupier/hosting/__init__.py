"""Processes that serve: incidents, databases, workers, sums; for the shuffler and the issuer."""
