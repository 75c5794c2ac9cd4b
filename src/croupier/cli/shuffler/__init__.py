"""Commands of the shuffler's operator."""
