"""Release: opens, mixes, publishes and forgets a batch."""
