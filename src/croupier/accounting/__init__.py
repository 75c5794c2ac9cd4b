"""Privacy amplification by shuffling: bounds of epsilon and delta, from above and below."""
