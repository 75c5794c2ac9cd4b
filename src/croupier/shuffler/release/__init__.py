"""Release: open, mix, publish and forget a batch."""
