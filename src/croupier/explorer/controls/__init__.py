"""The inputs of the page, and where each of them stands in a plan."""
