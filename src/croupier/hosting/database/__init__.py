"""Connections to PostgreSQL, with the settings that durable and quiet storage needs."""
