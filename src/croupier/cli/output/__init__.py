"""How commands print and write."""
