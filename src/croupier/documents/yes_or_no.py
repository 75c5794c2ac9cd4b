"""Many questions with the same two answers, of which one line each says everything."""

from collections.abc import Sequence

from croupier.model.estimate import Estimate

__all__ = ["shared_answer"]

_FEWEST = 3
_ANSWERS = 2


def shared_answer(estimates: Sequence[Estimate]) -> str | None:
    """Return the second answer, such as "yes", if it stands for all that was estimated.

    It does if at least three questions have the same two answers: each share of the first answer
    is what the second leaves. Else None.
    """
    if len(estimates) < _FEWEST:
        return None
    answers = {tuple(map(str, own.values)) for own in estimates}
    shares = all(type(own) is Estimate and own.quantity == "share" for own in estimates)
    alike = shares and len(answers) == 1
    [*_, last] = answers
    return last[1] if alike and len(last) == _ANSWERS else None
