"""Intake: admit senders, and store their envelopes."""
