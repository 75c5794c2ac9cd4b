"""The trust ladder of a plan."""
