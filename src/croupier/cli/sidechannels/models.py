"""The participation models that commands compare."""

from croupier.errors import ParameterError
from croupier.model.participation import (
    Bins,
    Divide,
    Multinomial,
    Parallel,
    Participation,
    SingleRound,
    Subsample,
)
from croupier.sidechannels.comparison import RandomCheckIn, ShuffleThenRandomize

__all__ = ["compared"]


def compared(
    *, n: int, rounds: int, batch: int | None = None, bins: int | None = None
) -> list[Participation]:
    """List every model with equally likely rounds; no random check-in where slots may stay empty.

    >>> [model.model for model in compared(n=1000, rounds=10)][:3]
    ['shuffle-then-randomize', 'random-check-in', 'single']
    """
    if not 2 <= rounds <= n:
        raise ParameterError("--rounds", must=f"be in [2, n = {n:,}]", got=rounds)
    parts = max(1, rounds // 6) if bins is None else bins
    if not 1 <= parts <= rounds:
        raise ParameterError("--bins", must=f"be in [1, rounds = {rounds:,}]", got=parts)
    equal = (1,) * rounds
    sizes = [rounds // parts + (number < rounds % parts) for number in range(parts)]
    binned = tuple((1,) * size for size in sizes)
    models: list[Participation] = [
        ShuffleThenRandomize(people=n),
        RandomCheckIn(slots=rounds),
        SingleRound(),
        Divide(groups=rounds),
        Subsample(repeats=rounds, batch=n // rounds if batch is None else batch),
        Parallel(weights=equal),
        Multinomial(weights=equal),
        Bins(bins=binned),
        Parallel(weights=equal, rectified=True),
        Multinomial(weights=equal, rectified=True),
        Bins(bins=binned, rectified=True),
    ]
    try:
        models[1].crowds(n, rounds_seen=False)
    except ParameterError:
        del models[1]
    return models
