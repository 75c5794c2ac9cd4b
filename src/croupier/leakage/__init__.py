"""What an adversary gains: linking a report, telling values apart, guessing a value."""
