"""Commands of people and relays who send reports."""
