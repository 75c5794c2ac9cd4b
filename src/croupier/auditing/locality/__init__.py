"""How well Mallows orders keep what is local."""
