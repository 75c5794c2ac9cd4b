"""The page of a plan, for whoever is responsible for people's privacy."""
