"""Programs that measure; `python -m benchmarks` puts us beside our peers."""
