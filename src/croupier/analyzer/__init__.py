"""The analyzer: opens reports of released batches and estimates."""
