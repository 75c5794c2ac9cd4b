"""Oblivious HTTP: requests that a relay forwards without reading them, and a gateway opens."""
