"""The page of a plan, for whoever answers for people's privacy."""
