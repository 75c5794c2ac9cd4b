"""A whole collection on loopback: real parts, simulated people."""
