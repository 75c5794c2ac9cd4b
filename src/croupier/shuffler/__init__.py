"""The shuffler: take envelopes in, mix them, release batches."""
