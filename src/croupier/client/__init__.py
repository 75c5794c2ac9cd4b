"""A client: randomises, seals, sends, remembers."""
