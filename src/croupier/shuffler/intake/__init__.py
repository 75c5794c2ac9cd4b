"""Intake: who may send, and what is stored of it."""
