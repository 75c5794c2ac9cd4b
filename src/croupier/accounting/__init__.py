"""What shuffling proves: bounds of epsilon and delta, from above and from below."""
