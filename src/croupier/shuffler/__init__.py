"""The shuffler: takes envelopes in, mixes them, releases batches."""
