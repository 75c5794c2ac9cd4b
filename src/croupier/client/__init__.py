"""The client: randomise, seal, send, remember."""
