"""The shuffler's database: batches, their states, their envelopes."""
