"""Outputs that one input has and another never had: evidence of a rare leak of the plaintext."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.blackbox.samples import binomial_lower
from croupier.auditing.mechanism.feature import Codes

__all__ = ["one_sided_answers", "promised_share"]

_LEASTS = (0, 2)
"""The least count of an answer by the first input; 0 lets in answers that neither ever had."""

_CONFIDENCE = 0.75
"""The confidence of what a few outputs promise. They only choose: others certify."""


def one_sided_answers(
    first: tuple[Codes, Codes], second: tuple[Codes, Codes], *, delta: float
) -> Iterator[tuple[NDArray[np.bool_], float]]:
    """Return sets of answers that the second input never gave, and what each promises.

    One set holds every such answer, including those that nobody ever gave: a leak may be another
    output every time. If outputs hardly ever repeat, all of them are new and that set reveals
    nothing; the other one holds what the first input gave twice or more. Either set is learned on
    one half of the outputs and counted on the other, both ways round, and returned as learned on
    both.

    Args:
        first: The count of each answer by the first input, on either half.
        second: The same for the second input.
        delta: The delta of the claim.
    """
    size = sum(int(counts.sum()) for counts in (*first, *second))
    for least in _LEASTS:
        hits = [0, 0]
        for learn, count in ((0, 1), (1, 0)):
            member = _member(first[learn], second[learn], least)
            hits[0] += int(first[count][member].sum())
            hits[1] += int(second[count][member].sum())
        chosen = _member(first[0] + first[1], second[0] + second[1], least)
        if chosen.any() and not chosen.all() and hits[0]:
            yield chosen, promised_share(hits, size, delta)


def promised_share(hits: Sequence[int], trials: int, delta: float) -> float:
    """Bound the share of hits from the first input, from below, less what delta allows."""
    total = sum(hits)
    if not total:
        return 0.0
    return binomial_lower(hits[0], total, _CONFIDENCE) - delta * trials / (2 * total)


def _member(first: Codes, second: Codes, least: int) -> NDArray[np.bool_]:
    return np.asarray((second == 0) & (first >= least))
