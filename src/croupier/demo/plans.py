"""The plans of the demo: with one shuffler and local noise, or with two shufflers and dummies."""

from collections.abc import Sequence

__all__ = ["plan_text"]

_COLLECTION = """\
schema = 2
name = "demo"
[randomizer]
{randomizer}
[population]
enrolled = {enrolled}
[collection]
every = "5s"
[protections]
minimum_batch = {minimum}
disposal_age = "24h"
"""
_NOISY = """\
mechanism = "k-rr"
k = 10
max_epsilon_local = 2.0"""
_PLAIN = """\
mechanism = "plain"
k = 10"""
_DELTA = """\
[guarantee]
delta = 1e-8
"""
_ANALYZER = """\
[analyzer]
operator = "{operator}"
key = "{key}"
"""
_SHUFFLER = """\
[[shufflers]]
operator = "{operator}"
key = "{key}"
"""
_DUMMIES = "dummies = {epsilon = 1.0, delta = 1e-8}\n"


def plan_text(*, enrolled: int, minimum: int, shufflers: Sequence[str], analyzer: str) -> str:
    """Return the plan of a demo.

    Args:
        enrolled: The number of people who may take part.
        minimum: The minimum batch.
        shufflers: The root keys of one shuffler or of two.
        analyzer: The root key of the analyzer.
    """
    facts = {"enrolled": enrolled, "minimum": minimum}
    if len(shufflers) == 1:
        return (
            _COLLECTION.format(randomizer=_NOISY, **facts)
            + _SHUFFLER.format(operator="this host", key=shufflers[0])
            + _ANALYZER.format(operator="this host", key=analyzer)
        )
    named = zip(("first shuffler", "second shuffler"), shufflers, strict=True)
    return (
        _COLLECTION.format(randomizer=_PLAIN, **facts)
        + _DELTA
        + "".join(_SHUFFLER.format(operator=name, key=key) + _DUMMIES for name, key in named)
        + _ANALYZER.format(operator="analyzer", key=analyzer)
    )
