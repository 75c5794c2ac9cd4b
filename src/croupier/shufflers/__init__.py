"""Laws over orders, one a file."""

from croupier.shufflers.uniform import UniformShuffler

__all__ = ["SHUFFLERS", "UniformShuffler"]

SHUFFLERS = {shuffler.name: shuffler for shuffler in (UniformShuffler,)}
"""Every shuffler that a plan can name."""
