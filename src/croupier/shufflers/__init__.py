"""Laws over orders, one per file."""

from croupier.errors import ParameterError
from croupier.model.shuffler import Shuffler
from croupier.shufflers.uniform import UniformShuffler

__all__ = ["SHUFFLERS", "UniformShuffler", "shuffler"]

SHUFFLERS = {shuffler.name: shuffler for shuffler in (UniformShuffler,)}
"""Every shuffler that is described by its name alone."""


def shuffler(order: str) -> Shuffler:
    """Build a shuffler by the name of its law.

    >>> shuffler("uniform")
    UniformShuffler()
    """
    if order not in SHUFFLERS:
        raise ParameterError(
            "order",
            must=f"be one of {', '.join(SHUFFLERS)}",
            got=order,
            hint="A Mallows order needs its groups: use MallowsShuffler.for_alpha.",
        )
    return SHUFFLERS[order]()
