"""The shuffler's HTTP face."""
