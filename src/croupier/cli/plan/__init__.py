"""Commands that take a plan."""
