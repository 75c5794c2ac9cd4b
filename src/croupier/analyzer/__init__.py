"""The analyzer: open the reports of released batches, and estimate."""
