"""Participation: who takes part in which round, and who hides among whom. One model per file."""

from collections.abc import Callable
from typing import Any

from croupier.errors import ParameterError
from croupier.model.participation.base import Participation
from croupier.model.participation.bins import Bins
from croupier.model.participation.crowd import Crowd
from croupier.model.participation.divide import Divide
from croupier.model.participation.multinomial import Multinomial
from croupier.model.participation.parallel import Parallel
from croupier.model.participation.single import SingleRound
from croupier.model.participation.subsample import Subsample
from croupier.model.participation.together import Together

__all__ = ["Bins", "Crowd", "Divide", "Multinomial", "Parallel", "Participation", "SingleRound"]
__all__ += ["Subsample", "Together", "participation"]


def participation(model: str, **parameters: Any) -> Participation:
    """Build a participation model by its name.

    >>> participation("rectified-multinomial", weights=(1, 1, 2)).rounds
    3
    """
    if model not in _MODELS:
        raise ParameterError(
            "model", must="be a participation model", got=model, hint=f"Try {', '.join(_MODELS)}."
        )
    return _MODELS[model](**parameters)


_MODELS: dict[str, Callable[..., Participation]] = {
    "single": SingleRound,
    "divide": Divide,
    "subsample": Subsample,
    "parallel": Parallel,
    "together": Together,
    "multinomial": Multinomial,
    "bins": Bins,
    "rectified-parallel": lambda **given: Parallel(rectified=True, **given),
    "rectified-multinomial": lambda **given: Multinomial(rectified=True, **given),
    "rectified-bins": lambda **given: Bins(rectified=True, **given),
}
