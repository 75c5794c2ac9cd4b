"""The HTTP service in front of intake."""
